/**
 * The command that goes on with work which was stopped. A command that can be gone on with says so here before it begins, and
 * the failure boundary names it in the last line, whatever the failure is.
 */
import { Context, Effect, Stdio } from "effect"

/**
 * @category models
 * @since 0.1.0
 */
export interface WayOnBox {
  command: string | undefined
  /** The command that tells whether a write was carried out, where its answer cannot be read. */
  look?: string | undefined
}

/**
 * @category references
 * @since 0.1.0
 */
export const WayOn = Context.Reference<WayOnBox>("@roster/cli/WayOn", { defaultValue: () => ({ command: undefined }) })

const plain = /^[\w@%+=:,./-]+$/

/**
 * A word of a command line as a POSIX shell reads it.
 *
 * @category printing
 * @since 0.1.0
 */
export const quoted = (word: string): string => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/**
 * This very command line, without some of its switches and with others.
 *
 * @category printing
 * @since 0.1.0
 */
export const sameCommand = Effect.fnUntraced(function* (
  without: ReadonlyArray<string> = [],
  added: ReadonlyArray<string> = []
) {
  const stdio = yield* Stdio.Stdio
  const args = yield* stdio.args
  const kept = args.filter((arg) => !without.includes(arg))
  // What follows two dashes is no flag.
  const dashes = kept.indexOf("--")
  const words = kept.toSpliced(dashes < 0 ? kept.length : dashes, 0, ...added)
  return ["roster", ...words.map(quoted)].join(" ")
})
