/**
 * What the error reporter says of work that did not come to its end: the commands that resume and undo it. It is a mutable
 * box because signals, `--timeout` and defects end a command from outside, so that no error could carry it.
 */
import { shellWord } from "@roster/workflows"
import { Context, Effect, Stdio } from "effect"
import { maskKeys } from "./KeyMask.ts"
import { flagsIn } from "./OutputFlags.ts"

interface ResumeHintBox {
  /** The command line that resumes the work. */
  command: string | undefined
  /** The command line that shows whether a write was carried out, if its answer cannot be read. */
  look?: string | undefined
  /** How far the work came, if it was interrupted. */
  interrupted?: string | undefined
  /** The run that recorded changes, and the command line that undoes it. */
  undo?: { readonly run: string; readonly command: string } | undefined
}

/** What the end of a command says of going on. A reference, since commands deep in a run learn it and the boundary prints it. */
export const ResumeHint = Context.Reference<ResumeHintBox>("@roster/cli/ResumeHint", {
  defaultValue: () => ({ command: undefined })
})

/** A word quoted for a POSIX shell to show, without keys that the user typed by mistake. */
const shellWordOf = (word: string): string => shellWord(maskKeys(word))

/** A command line to show. */
const commandLine = (words: ReadonlyArray<string>): string => ["roster", ...words.map(shellWordOf)].join(" ")

/** The flags that name a service or a store. */
const targetFlags = ["profile", "base-url", "api-key-file", "api-key-header", "api-key-prefix", "db"] as const

/** The words by which this command line names its service or store. */
const targetWords = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const flags = flagsIn(yield* stdio.args)
  return targetFlags.flatMap((name) => {
    const value = flags.get(name)
    return value === undefined ? [] : [`--${name}`, value]
  })
})

/** Another command line for the service or store that this one names. */
export const commandHere = (words: ReadonlyArray<string>) =>
  Effect.map(targetWords, (target) => commandLine([...words, ...target]))

/** What to add to a command line so that it is for the service or store that this one names. */
export const flagsHere = Effect.map(targetWords, (target) => target.map(shellWordOf).join(" "))

/** The words without a flag and its value. */
const withoutFlag = (args: ReadonlyArray<string>, flag: string): ReadonlyArray<string> =>
  args.filter((arg, index) => arg !== flag && args[index - 1] !== flag && !arg.startsWith(`${flag}=`))

/** The current command line, without some of its switches or flags with their values, and with others added. */
export const resumeCommand = Effect.fnUntraced(function* (
  without: ReadonlyArray<string> = [],
  added: ReadonlyArray<string> = [],
  ...flags: ReadonlyArray<string>
) {
  const stdio = yield* Stdio.Stdio
  const args = yield* stdio.args
  const kept = flags.reduce(withoutFlag, args).filter((arg) => !without.includes(arg))
  // Words after `--` are no flags.
  const dashes = kept.indexOf("--")
  const words = kept.toSpliced(dashes < 0 ? kept.length : dashes, 0, ...added)
  return commandLine(words)
})
