/**
 * The flags of an import: how the file is read, and how it travels.
 */
import { isEncoding, type ReadContactsOptions } from "@roster/domain"
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { dryRun } from "../../../terminal/DryRun.ts"
import { count, lists, toggle } from "../../shared/CommonFlags.ts"
import { rejectedFlags } from "./RejectedFile.ts"
import { invalid, refusedInput } from "../../../errors/UsageError.ts"

/** The public service cuts connections off at 20. */
const mostAtOnce = 16

const encoding = Flag.String("encoding").pipe(
  Flag.mapEffect((name) =>
    isEncoding(name)
      ? Effect.succeed(name)
      : refusedInput(
          Effect.fail(
            invalid("encoding", "there is no encoding of this name; utf-8, utf-16le and windows-1252 are some")
          )
        )
  ),
  Flag.withMetavar("NAME"),
  Flag.withDescription("The encoding of the file, UTF-8 unless said or marked in the file"),
  Flag.withDefault(undefined)
)

const delimiters: { readonly [name: string]: NonNullable<ReadContactsOptions["delimiter"]> } = {
  ",": ",",
  ";": ";",
  tab: "\t"
}

const delimiter = Flag.Literals("delimiter", [",", ";", "tab"]).pipe(
  Flag.map((name) => delimiters[name]),
  Flag.withDescription("What separates the cells, found in the header unless said"),
  Flag.withDefault(undefined)
)

const columns = Flag.String("map").pipe(
  Flag.mapEffect((given) => {
    const at = given.lastIndexOf("=")
    const column = given.slice(0, at).trim()
    const field = given.slice(at + 1).trim()
    return at > 0 && column !== "" && field !== ""
      ? Effect.succeed([column, field] as const)
      : refusedInput(Effect.fail(invalid("map", "it is written as column=Field, such as 'First Name=FirstName'")))
  }),
  Flag.withMetavar("column=Field"),
  Flag.withDescription("What a column is: a field of the contact, or a custom field (repeatable)"),
  Flag.atLeast(0)
)

export const importFlags = {
  lists,
  columns,
  delimiter,
  encoding,
  onInvalid: Flag.Literals("on-invalid", ["skip", "stop"]).pipe(
    Flag.withDescription("Whether rows that are not valid are left out, or nothing is sent where there are some"),
    Flag.withDefault("skip")
  ),
  ...rejectedFlags,
  dryRun,
  concurrency: count("concurrency", "How many requests are under way at once, 8 unless said", 1, mostAtOnce),
  via: Flag.Literals("via", ["batches", "file"]).pipe(
    Flag.withDescription(
      "Whether rows are sent 1000 at a time, each with an answer, or the file is handed over, of which no status exists"
    ),
    Flag.withDefault("batches")
  ),
  restart: toggle("restart", "Begin anew, whatever the journal of an earlier run holds"),
  noJournal: toggle("no-journal", "Keep no journal beside the file; what is stopped begins anew")
}
