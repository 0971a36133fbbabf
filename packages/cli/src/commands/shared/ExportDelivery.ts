/** Delivers the bytes of an export to a file or to standard output. */
import { Effect, Stream } from "effect"
import { toggle } from "../../settings/FlagForms.ts"
import { outFile } from "./CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { prepare } from "../../files/AtomicFile.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import { withProgress } from "../../terminal/Progress.ts"
import * as Results from "../../terminal/Results.ts"

export const deliveryFlags = {
  out: outFile("Write to FILE (default: stdout)"),
  force: toggle("force", "Overwrite the file if it exists")
}

/** Prints the bytes as they are, but on a terminal no control characters. */
const print = Effect.fnUntraced(function* <E, R>(content: Stream.Stream<Uint8Array, E, R>) {
  const output = yield* Output
  const lines = Stream.map(Stream.splitLines(Stream.decodeText(content)), (line) => `${printable(line)}\n`)
  yield* output.write(output.isTerminal ? lines : content)
})

/** Checks that the file can be written, before the service is called, and returns the function that writes the bytes. */
export const delivery = Effect.fnUntraced(function* (to: {
  readonly out: string | undefined
  readonly force: boolean
  readonly isWorkbook?: boolean
  /** Says at the end how many contacts passed. */
  readonly counter?: { readonly count: () => number } | undefined
}) {
  const { counter, out } = to
  const write = out === undefined ? undefined : yield* prepare(out, to)
  return Effect.fnUntraced(function* <E, R>(content: Stream.Stream<Uint8Array, E, R>) {
    if (write === undefined) return yield* print(content)
    let received = 0
    const bytes = yield* withProgress({ doing: "Downloading", unit: "bytes" }, (update) =>
      write(
        Stream.tap(content, (part) => {
          received += part.length
          return update(received)
        })
      )
    )
    const contacts = counter?.count()
    yield* Results.summary(
      { file: out, bytes, ...(contacts === undefined ? {} : { contacts }) },
      `Wrote ${contacts === undefined ? "" : `${counted(contacts)}, `}${bytes} bytes to ${out}`
    )
  })
})
