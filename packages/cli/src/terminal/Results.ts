/**
 * Prints results. JSON is that of the wire: PascalCase records, an array with one record a line for lists, `{"ok":true}`
 * for an empty answer; summaries of our own are in camelCase. NDJSON is the same without the array. CSV has the columns of
 * the table for lists and every field for one record.
 */
import { ContactColumns } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { Csv } from "effect/encoding"
import { Output } from "./Output.ts"
import { jsonText, printable, safeJson } from "./Printable.ts"
import { fieldsOf, recordText, tableOf } from "./Table.ts"

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
      return yield* output.write(Stream.make(`${words()}\n`))
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

/** Prints one record of the service. */
export const record = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, unknown>, value: A) {
  const encoded = encoder(schema)(value)
  yield* single(encoded, () => recordText(encoded))
})

/** A list of records as JSON with one record a line, either an array or NDJSON. */
export const jsonLines = <A, E, R>(
  values: Stream.Stream<A, E, R>,
  format: "json" | "ndjson",
  encode: (value: A) => unknown
): Stream.Stream<string, E, R> => {
  const lines = (part: ReadonlyArray<A>, separator: string) =>
    safeJson(part.map((value) => JSON.stringify(encode(value))).join(separator))
  if (format === "ndjson") return Stream.mapArray(values, (part) => [`${lines(part, "\n")}\n`])
  return Stream.suspend(() => {
    let isEmpty = true
    const parts = Stream.mapArray(values, (part) => {
      const before = isEmpty ? "[\n" : ",\n"
      isEmpty = false
      return [`${before}${lines(part, ",\n")}`]
    })
    return Stream.concat(
      parts,
      Stream.sync(() => (isEmpty ? "[]\n" : "\n]\n"))
    )
  })
}

/** A list of records, written as they arrive. `columns` are the fields that a table shows. */
export const records = Effect.fnUntraced(function* <A, E, R>(
  schema: Schema.Codec<A, unknown>,
  columns: ReadonlyArray<string>,
  values: Stream.Stream<A, E, R>
) {
  const output = yield* Output
  const encode = encoder(schema)
  switch (output.format) {
    case "json":
    case "ndjson":
      return yield* output.write(jsonLines(values, output.format, encode))
    case "csv":
      return yield* output.write(
        csvOf(
          columns,
          Stream.map(values, (one) => new Map(fieldsOf(encode(one))))
        )
      )
    case "table": {
      const table = tableOf(columns, output.width)
      let isEmpty = true
      yield* output.write(
        Stream.mapArray(values, (part) => {
          isEmpty = false
          return [`${table(part.map(encode))}\n`]
        })
      )
      if (isEmpty) yield* output.note("There are none.")
    }
  }
})

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
