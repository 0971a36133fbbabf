/** The words of the command line. Node replaces what is not UTF-8 in them by U+FFFD, which would become data. */
import { resubscribeIn } from "@roster/domain"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { usageError } from "../errors/UsageError.ts"

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

/** Gives `--resubscribe` the names that stand behind it: a flag with an optional value takes one behind `=` only. */
export const withNamesAttached = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const place = args.indexOf("--resubscribe")
  const names = args[place + 1]
  return place === -1 || names === undefined || resubscribeIn(names) === undefined
    ? args
    : args.toSpliced(place, 2, `--resubscribe=${names}`)
}
