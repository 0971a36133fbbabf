/** The flags that say what a file of contacts means. They fill one `ImportMapping`. */
import { type Delimiter, ImportMapping, invalidInput } from "@roster/domain"
import { Effect, Schema } from "effect"
import { Flag } from "effect/cli"
import { refuse } from "../../../errors/UsageError.ts"
import { parsed, parsedEach } from "../../../settings/FlagForms.ts"
import { count } from "../../shared/CommonFlags.ts"

const decode = Schema.decodeUnknownEffect(ImportMapping)

/** Checks a part of a mapping that a flag gives. */
const checked = <A>(flag: string, mapping: ImportMapping, value: A) =>
  decode(mapping).pipe(
    Effect.as(value),
    Effect.catchTag("SchemaError", (error) => refuse(flag, invalidInput(error).issue))
  )

const delimiters: { readonly [name: string]: Delimiter } = { ",": ",", ";": ";", "|": "|", tab: "\t" }

/** The flags of a mapping. */
export const mappingFlags = {
  columns: parsedEach(
    "map",
    (given) => {
      const at = given.lastIndexOf("=")
      const column = given.slice(0, at).trim()
      const field = given.slice(at + 1).trim()
      if (at <= 0 || column === "") {
        return refuse("map", "write it as column=Field, such as 'First Name=FirstName', or '#4=' to leave a column out")
      }
      const pair = [column, field === "" ? null : field] as const
      return checked("map", { columns: Object.fromEntries([pair]) }, pair)
    },
    "Map a column, by its heading or as #2, to a field of the contact or to a custom field; without a field it is left out",
    "column=Field"
  ),
  values: parsedEach(
    "map-value",
    (given) => {
      const colon = given.indexOf(":")
      const equals = given.lastIndexOf("=")
      const field = given.slice(0, Math.max(colon, 0)).trim()
      const word = given.slice(colon + 1, equals).trim()
      const value = given.slice(equals + 1).trim()
      if (field === "" || equals < colon || word === "" || value === "") {
        return refuse("map-value", "write it as Field:word=value, such as Status:subscribed=Active")
      }
      return checked("map-value", { values: { [field]: Object.fromEntries([[word, value]]) } }, [
        field,
        word,
        value
      ] as const)
    },
    "Take a word in the column of a field for one of its values; letter case does not matter",
    "Field:word=value"
  ),
  delimiter: Flag.Literals("delimiter", [",", ";", "|", "tab"]).pipe(
    Flag.map((name) => delimiters[name]),
    Flag.withDescription("Cell delimiter (default: found in the header, or as a first line such as sep=; says)"),
    Flag.withDefault(undefined)
  ),
  skipLines: count("skip-lines", "Number of lines before the header (default: 0)", 0),
  encoding: parsed(
    "encoding",
    (name) => checked("encoding", { encoding: name }, name),
    "Encoding of the file (default: UTF-8, or as marked in the file)",
    "NAME"
  )
}

/** The mapping that the flags give. */
export const mappingOf = ({
  columns,
  delimiter,
  encoding,
  skipLines,
  values
}: {
  readonly columns: ReadonlyArray<readonly [column: string, field: string | null]>
  readonly values: ReadonlyArray<readonly [field: string, word: string, value: string]>
  readonly delimiter: Delimiter | undefined
  readonly skipLines: number | undefined
  readonly encoding: string | undefined
}): ImportMapping => ({
  ...(encoding === undefined ? {} : { encoding }),
  ...(delimiter === undefined ? {} : { delimiter }),
  ...(skipLines === undefined ? {} : { skipLines }),
  ...(columns.length === 0 ? {} : { columns: Object.fromEntries(columns) }),
  ...(values.length === 0
    ? {}
    : {
        values: Object.fromEntries(
          Object.entries(Object.groupBy(values, ([field]) => field)).map(([field, of = []]) => [
            field,
            Object.fromEntries(of.map(([, word, value]) => [word, value]))
          ])
        )
      })
})
