/**
 * Printing results. JSON is what the wire has: PascalCase records, an array with one record a line for lists,
 * `{"ok":true}` where the service answers nothing; summaries of our own are in camelCase.
 */
import { Effect, Schema, Stream } from "effect"
import { Output } from "./Output.ts"
import { jsonText } from "./Printable.ts"
import { recordText, tableOf } from "./Table.ts"

const print = Effect.fnUntraced(function* (text: string) {
  const output = yield* Output
  yield* output.write(Stream.make(`${text}\n`))
})

/** What cannot be encoded did not come from a decoder either: that is a bug, and thrown as one. */
const encoder = <A>(schema: Schema.Codec<A, unknown>) => {
  const encode = Schema.encodeSync(schema)
  return (value: A): unknown => encode(value)
}

/**
 * One record of the service.
 *
 * @category printing
 * @since 0.1.0
 */
export const record = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, unknown>, value: A) {
  const { format } = yield* Output
  const encoded = encoder(schema)(value)
  yield* print(format === "json" ? jsonText(encoded) : recordText(encoded))
})

/**
 * A list of records, as it comes. `columns` are the fields that a table shows.
 *
 * @category printing
 * @since 0.1.0
 */
export const records = Effect.fnUntraced(function* <A, E, R>(
  schema: Schema.Codec<A, unknown>,
  columns: ReadonlyArray<string>,
  values: Stream.Stream<A, E, R>
) {
  const output = yield* Output
  const encoded = Stream.map(values, encoder(schema))
  yield* output.write(output.format === "json" ? jsonArray(encoded) : tableRows(columns, encoded))
})

const jsonArray = <E, R>(values: Stream.Stream<unknown, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let separator = "[\n"
    const lines = Stream.mapArray(values, (part) => {
      const text = separator + part.map(jsonText).join(",\n")
      separator = ",\n"
      return [text]
    })
    return Stream.concat(
      lines,
      Stream.sync(() => (separator === "[\n" ? "[]\n" : "\n]\n"))
    )
  })

const tableRows = <E, R>(
  columns: ReadonlyArray<string>,
  values: Stream.Stream<unknown, E, R>
): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    const table = tableOf(columns)
    return Stream.mapArray(values, (part) => [`${table(part)}\n`])
  })

/**
 * An account of our own of what was done: an object for programs, sentences for people.
 *
 * @category printing
 * @since 0.1.0
 */
export const summary = Effect.fnUntraced(function* (value: object, words: string) {
  const { format } = yield* Output
  yield* print(format === "json" ? jsonText(value) : words)
})

/**
 * That something was done which the service answers with nothing.
 *
 * @category printing
 * @since 0.1.0
 */
export const done = (words: string) => summary({ ok: true }, words)
