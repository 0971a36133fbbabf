/**
 * The command that goes on with work which was stopped. A command that can be gone on with says so here before it begins, and
 * the failure boundary names it in the last line, whatever the failure is.
 */
import { Context, Effect, Stdio } from "effect"

export interface ResumeHintBox {
  command: string | undefined
  /** The command that tells whether a write was carried out, where its answer cannot be read. */
  look?: string | undefined
}

export const ResumeHint = Context.Reference<ResumeHintBox>("@roster/cli/ResumeHint", {
  defaultValue: () => ({ command: undefined })
})

const plain = /^[\w@%+=:,./-]+$/

/** A word of a command line as a POSIX shell reads it. */
export const quoted = (word: string): string => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** This very command line, without some of its switches and with others. */
export const resumeCommand = Effect.fnUntraced(function* (
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
