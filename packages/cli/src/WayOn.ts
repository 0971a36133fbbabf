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
 * This very command line, without some of its switches.
 *
 * @category printing
 * @since 0.1.0
 */
export const sameCommand = Effect.fnUntraced(function* (without: ReadonlyArray<string> = []) {
  const stdio = yield* Stdio.Stdio
  const args = yield* stdio.args
  return ["roster", ...args.filter((arg) => !without.includes(arg)).map(quoted)].join(" ")
})
