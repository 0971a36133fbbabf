/** A multipart form whose file is streamed: the platform's own FormData would hold the whole file in memory. */
import { Stream } from "effect"
import { HttpBody } from "effect/http"

const encoder = new TextEncoder()

/** Quotes a name as browsers do: RFC 7578 has no other way. */
const quotedName = (name: string): string =>
  `"${name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A")}"`

/** A multipart form, with what divides its parts. The file must not fail: a transport would report that as its own failure. */
export const formBody = (
  boundary: string,
  fields: ReadonlyArray<readonly [name: string, value: string]>,
  file?: { readonly name: string; readonly content: Stream.Stream<Uint8Array> }
): HttpBody.HttpBody => {
  const part = (disposition: string, rest: string) =>
    encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${rest}`)
  const head = fields.map(([name, value]) => part(`name=${quotedName(name)}`, `\r\n${value}\r\n`))
  const end = encoder.encode(`--${boundary}--\r\n`)
  const content =
    file === undefined
      ? Stream.fromIterable([...head, end])
      : Stream.fromIterable([
          ...head,
          part(`name="file"; filename=${quotedName(file.name)}`, "Content-Type: text/csv\r\n\r\n")
        ]).pipe(Stream.concat(file.content), Stream.concat(Stream.fromIterable([encoder.encode("\r\n"), end])))
  return HttpBody.stream(content, `multipart/form-data; boundary=${boundary}`)
}
