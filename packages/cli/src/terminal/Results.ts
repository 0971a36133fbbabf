/**
 * Prints results. JSON is that of the wire: lists have one record a line, an empty answer is `{"ok":true}`, our own
 * summaries are camelCase. NDJSON has no array. CSV has the table's columns for lists, all fields for one record.
 */
import { ContactColumns } from "@roster/domain/internal"
import { Effect, Schema, Stream } from "effect"
import { Csv } from "effect/encoding"
import { Output } from "./Output.ts"
import { jsonText, printable, printableLines } from "./Printable.ts"
import { fieldsOf, recordText, type TableOptions, tableOf, timesInWords } from "./Table.ts"

/** Prints one value; `words` is its form in a table. */
const single = Effect.fnUntraced(function* (value: unknown, words: () => string) {
  const output = yield* Output
  switch (output.format) {
    case "json":
    case "ndjson":
      return yield* output.write(Stream.make(`${jsonText(value)}\n`))
    case "csv": {
      const fields = new Map(fieldsOf(value))
      return yield* output.write(csvOf([...fields.keys()], Stream.make(fields)))
    }
    case "table":
      return yield* output.write(Stream.make(`${printableLines(words())}\n`))
  }
})

/** CSV whose cells neither a spreadsheet nor a terminal executes. */
const csvOf = <E, R>(
  columns: ReadonlyArray<string>,
  rows: Stream.Stream<ReadonlyMap<string, string>, E, R>
): Stream.Stream<string | Uint8Array, E, R | Output> =>
  Stream.unwrap(
    Effect.map(Output, ({ isTerminal }) => {
      const cell = (text: string) => ContactColumns.protectCell(isTerminal ? printable(text) : text)
      return Stream.make(columns.map(cell)).pipe(
        Stream.concat(Stream.map(rows, (fields) => columns.map((column) => cell(fields.get(column) ?? "")))),
        Stream.pipeThroughChannel(Csv.encode())
      )
    })
  )

/** Encodes a record. A value that cannot be encoded is a bug, since a decoder made it. */
const encoder = <A>(schema: Schema.Codec<A, unknown>) => {
  const encode = Schema.encodeSync(schema)
  return (value: A): unknown => encode(value)
}

/** Prints one record that is JSON already. */
export const row = (value: unknown) => single(value, () => recordText(timesInWords(value)))

/** Prints one record of the service. */
export const record = <A>(schema: Schema.Codec<A, unknown>, value: A) =>
  Effect.suspend(() => row(encoder(schema)(value)))

/** What stands before the first record, before each other, after each, after all, and for an empty list. */
const frames = {
  json: { first: "[\n", next: ",\n", behind: "", last: "\n]\n", none: "[]\n" },
  ndjson: { first: "", next: "", behind: "\n", last: "", none: "" }
}

/** A list of records as JSON with one record a line. */
export const jsonLines = <A, E, R>(
  schema: Schema.Codec<A, unknown>,
  values: Stream.Stream<A, E, R>,
  format: keyof typeof frames
): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    const { behind, first, last, next, none } = frames[format]
    const encode = encoder(schema)
    let before = first
    const parts = Stream.mapArray(values, (part) => {
      let text = ""
      for (const value of part) {
        text += before + jsonText(encode(value)) + behind
        before = next
      }
      return [text]
    })
    const end = Stream.sync(() => (before === first ? none : last))
    return Stream.encodeText(Stream.concat(parts, end))
  })

/** Prints records as they arrive. `columns` are the fields of a table. */
export const records = Effect.fnUntraced(function* <A, E, R>(
  schema: Schema.Codec<A, unknown>,
  columns: ReadonlyArray<string>,
  values: Stream.Stream<A, E, R>,
  options: Omit<TableOptions, "available"> = {}
) {
  const output = yield* Output
  const encode = encoder(schema)
  const { fieldsIn = fieldsOf } = options
  switch (output.format) {
    case "json":
    case "ndjson":
      return yield* output.write(jsonLines(schema, values, output.format))
    case "csv":
      return yield* output.write(
        csvOf(
          columns,
          Stream.map(values, (one) => new Map(fieldsIn(encode(one))))
        )
      )
    case "table": {
      const table = tableOf(columns, { ...options, available: output.width })
      let isEmpty = true
      yield* output.write(
        Stream.mapArray(values, (part) => {
          isEmpty = false
          return [`${table.part(part.map((value) => timesInWords(encode(value))))}\n`]
        })
      )
      if (isEmpty) return yield* output.note("There are none.")
      const leftOut = table.leftOut()
      if (leftOut.length > 0)
        yield* output.note(printable(`Not shown: ${leftOut.join(", ")}; --wide shows all columns`))
    }
  }
})

/** Prints records that are JSON already, as they arrive. */
export const rows = <Row extends object, E, R>(
  columns: ReadonlyArray<keyof Row & string>,
  values: Stream.Stream<Row, E, R>,
  options: Pick<TableOptions, "hasSentences"> = {}
) => records(Schema.Unknown, columns, values, options)

/** Prints a summary of our own: an object for programs, sentences for people. */
export const summary = (value: object, words: string) => single(value, () => words)

/** Reports the success of an operation that has no answer. */
export const done = (words: string) => summary({ ok: true }, words)

type Given<A> = { readonly [K in keyof A as undefined extends A[K] ? never : K]: A[K] } & {
  readonly [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined>
}

/** Leaves out the fields that are not given: a request must not name a field that the user did not mention. */
export const omitUndefined = <const A extends object>(fields: A): Given<A> =>
  // Only undefined fields are removed, and those are optional in the result.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<A>
