/** The words of the command line. Node replaces what is not UTF-8 in them by U+FFFD, which would become data. */
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { usageError } from "../errors/UsageError.ts"
import { withValuesApart } from "../terminal/OutputFlags.ts"

/** The last words of this process as the system has them, a character for each byte; empty where it does not tell. */
const givenBytes = (count: number): ReadonlyArray<string> => {
  try {
    return readFileSync("/proc/self/cmdline", "latin1")
      .split("\0")
      .slice(-1 - count, -1)
  } catch {
    return []
  }
}

/** Refuses words that are not UTF-8. Without the bytes U+FFFD is refused too, since nobody knows what it stands for. */
export const checkArguments = (args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    if (!args.some((word) => word.includes("\ufffd"))) return Effect.void
    const bytes = givenBytes(args.length)
    const broken = args.findIndex(
      (word, index) => word.includes("\ufffd") && bytes[index] !== Buffer.from(word).toString("latin1")
    )
    return broken < 0
      ? Effect.void
      : Effect.fail(
          usageError(
            `Argument ${broken + 1} is not UTF-8 text.`,
            "Nothing was done. Set the terminal to UTF-8, or convert the text with: iconv -t UTF-8"
          )
        )
  })

/** Whether a word can be meant as names of statuses alone, even wrong ones: as no address, rule, file or run. */
const areNames = (word: string): boolean => /^[a-z]+(?:, ?[a-z]+)*$/i.test(word) && word !== "last" && !existsSync(word)

/**
 * Gives `--resubscribe` the names that stand behind it, since a flag with an optional value takes one behind `=` only, and takes the
 * values of short flags off them.
 */
export const withNamesAttached = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const args = withValuesApart(given)
  const place = args.indexOf("--resubscribe")
  const names = args[place + 1]
  return place === -1 || names === undefined || !areNames(names)
    ? args
    : args.toSpliced(place, 2, `--resubscribe=${names}`)
}
