/** The flags that say what a file of contacts means. They fill one `ImportMapping`. */
import { type Delimiter, ImportMapping } from "@roster/domain"
import { ImportMappingText, invalidInput, mergeMappings } from "@roster/domain/internal"
import { Effect, Schema, Stream } from "effect"
import { Flag } from "effect/cli"
import { refuse, usageError } from "../../errors/UsageError.ts"
import type { prepare } from "../../files/AtomicFile.ts"
import { readText } from "../../settings/InputFile.ts"
import { parsed, parsedEach, text, toggle } from "../../settings/FlagForms.ts"
import { count } from "./CommonFlags.ts"

const decode = Schema.decodeUnknownEffect(ImportMapping)

/** Checks a part of a mapping that a flag gives. */
const checked = <A>(flag: string, mapping: ImportMapping, value: A) =>
  decode(mapping).pipe(
    Effect.as(value),
    Effect.catchTag("SchemaError", (error) => refuse(flag, invalidInput(error).issue))
  )

/** A flag that gives columns of a file, or stored fields, a kind. */
export const kindFlag = (flag: string, what: "column" | "field", description: string) =>
  parsedEach(
    flag,
    (given) => {
      const at = given.lastIndexOf("=")
      const name = given.slice(0, at).trim()
      const kind = given.slice(at + 1).trim()
      if (at <= 0 || name === "") {
        return refuse(
          flag,
          `write it as ${what}=kind, such as 'Customer since=date:DD.MM.YYYY' or Revenue=number:1.234,56`
        )
      }
      const pair = [name, kind] as const
      return checked(flag, { kinds: Object.fromEntries([pair]) }, pair)
    },
    description,
    `${what}=kind`
  )

const delimiters: { readonly [name: string]: Delimiter } = { ",": ",", ";": ";", "|": "|", tab: "\t" }

/** The flags that say how a file of contacts is read, whatever is done with them. */
export const readingFlags = {
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
  skipLines: count("skip-lines", "Number of lines before the header (default: 0)", 0),
  noHeader: toggle(
    "no-header",
    "The first line has no headings: name columns by number; the first address in it is below Email"
  ),
  encoding: parsed(
    "encoding",
    (name) => checked("encoding", { encoding: name }, name),
    "Encoding of the file (default: UTF-8, or as marked in the file)",
    "NAME"
  ),
  sheet: text("sheet", "Sheet of a workbook, by its name or number (default: the first that is shown)", "NAME")
}

/** The flags of a mapping. */
export const mappingFlags = {
  ...readingFlags,
  values: parsedEach(
    "map-value",
    (given) => {
      const colon = given.indexOf(":")
      const equals = given.lastIndexOf("=")
      const field = given.slice(0, Math.max(colon, 0)).trim()
      const word = given.slice(colon + 1, equals).trim()
      const value = given.slice(equals + 1).trim()
      if (field === "" || equals < colon || word === "") {
        return refuse(
          "map-value",
          "write it as Field:word=value, such as Status:subscribed=Active, or without a value for a word that says nothing"
        )
      }
      return checked("map-value", { values: { [field]: Object.fromEntries([[word, value]]) } }, [
        field,
        word,
        value
      ] as const)
    },
    "Take a word in the columns of a field, or in the column of this heading, for a value, or without one for nothing; " +
      "* is any other text, and letter case does not matter",
    "Field:word=value"
  ),
  kinds: kindFlag(
    "kind",
    "column",
    "Read the texts of a column as date:DD.MM.YYYY, number:1.234,56 or boolean, in the form of the file; they are stored as rules " +
      "compare them, and a row with another text is rejected"
  ),
  constants: parsedEach(
    "set",
    (given) => {
      const at = given.indexOf("=")
      const pair = [given.slice(0, Math.max(at, 0)).trim(), given.slice(at + 1).trim()] as const
      if (pair[0] === "") return refuse("set", "write it as Field=value, such as Status=Unsubscribed")
      return checked("set", { constants: Object.fromEntries([pair]) }, pair)
    },
    "Give a field one value in all rows, also of contacts that are stored already",
    "Field=value"
  ),
  delimiter: Flag.Literals("delimiter", [",", ";", "|", "tab"]).pipe(
    Flag.map((name) => delimiters[name]),
    Flag.withDescription("Cell delimiter (default: found in the header, or as a first line such as sep=; says)"),
    Flag.withDefault(undefined)
  ),
  trim: toggle("trim", "Take cells without the blanks around their texts (default: keep them)"),
  mapping: text(
    "mapping",
    "Read from FILE what columns and words mean, how dates are written (dateFormat) and what an empty cell does (empty); " +
      "flags such as --map say more",
    "FILE"
  ),
  saveMapping: text("save-mapping", "Write to FILE what --mapping and flags such as --map say, for --mapping", "FILE")
}

/** Writes a mapping as `--mapping` reads it. */
export const writeMapping = Effect.fnUntraced(function* (
  write: Effect.Success<ReturnType<typeof prepare>>,
  mapping: ImportMapping
) {
  // What was decoded can be encoded.
  const valid = yield* Effect.orDie(Schema.encodeEffect(ImportMapping)(mapping))
  yield* write(Stream.encodeText(Stream.make(`${JSON.stringify(valid, undefined, 2)}\n`)))
})

const decodeFile = Schema.decodeEffect(ImportMappingText, { onExcessProperty: "error" })

/** The mapping of `--mapping` and of the other flags. */
export const mappingOf = Effect.fnUntraced(function* (
  given: Parameters<typeof flagged>[0] & { readonly mapping: string | undefined }
) {
  const { mapping: file } = given
  if (file === undefined) return flagged(given)
  const saved = yield* decodeFile(yield* readText(file)).pipe(
    Effect.catchTag("SchemaError", (error) => {
      const { field, issue } = invalidInput(error, "the file")
      return Effect.fail(usageError(`${file} is no mapping: ${field}: ${issue}.`, "Write one with --save-mapping."))
    })
  )
  return mergeMappings(saved, flagged(given))
})

/** The mapping that the other flags give. */
const flagged = ({
  columns,
  constants = [],
  delimiter,
  encoding,
  kinds = [],
  noHeader,
  skipLines,
  trim = false,
  values = []
}: {
  readonly columns: ReadonlyArray<readonly [column: string, field: string | null]>
  readonly kinds?: ReadonlyArray<readonly [column: string, kind: string]>
  readonly constants?: ReadonlyArray<readonly [field: string, value: string]>
  readonly values?: ReadonlyArray<readonly [field: string, word: string, value: string]>
  readonly noHeader: boolean
  readonly trim?: boolean
  readonly delimiter?: ImportMapping["delimiter"] | undefined
} & {
  readonly [Name in "encoding" | "skipLines"]: ImportMapping[Name] | undefined
}): ImportMapping => ({
  ...(encoding === undefined ? {} : { encoding }),
  ...(delimiter === undefined ? {} : { delimiter }),
  ...(skipLines === undefined ? {} : { skipLines }),
  ...(noHeader ? { header: false } : {}),
  ...(trim ? { trim } : {}),
  ...(columns.length === 0 ? {} : { columns: Object.fromEntries(columns) }),
  ...(kinds.length === 0 ? {} : { kinds: Object.fromEntries(kinds) }),
  ...(constants.length === 0 ? {} : { constants: Object.fromEntries(constants) }),
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
