/** The behaviour of a faulty server as data: a script of steps for a connection or a request. */
import { Data, type Duration, type Effect } from "effect"

/** A step of a script. */
export type Step = Data.TaggedEnum<{
  ReadHead: {}
  ReadBody: { readonly bytes: number | "all" }
  Write: { readonly bytes: Uint8Array }
  Drip: { readonly bytes: Uint8Array; readonly every: Duration.Input; readonly size: number }
  Flood: { readonly bytes: Uint8Array; readonly times: number }
  Respond: { readonly answer: Answer }
  WaitFor: { readonly gate: Effect.Effect<unknown> }
  Reset: {}
  Finish: {}
  Stall: {}
  Next: {}
}>

/** Steps that a faulty server plays in order. */
export type Script = ReadonlyArray<Step>

/**
 * A complete response. A missing length is added to the headers, and a missing JSON content type if there is a body.
 */
export interface Answer {
  readonly status: number
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly body?: string | Uint8Array | undefined
}

export const Step = Data.taggedEnum<Step>()

const encoder = new TextEncoder()

/** The bytes of a text (UTF-8), or bytes as they are. */
export const bytesOf = (text: string | Uint8Array): Uint8Array =>
  typeof text === "string" ? encoder.encode(text) : text

/** Waits for the head of a request. If the script was chosen by its request, the head has been read already. */
export const readHead: Step = Step.ReadHead()

/** Reads the given number of bytes of the request's body, including framing, or all of it. */
export const readBody = (bytes: number | "all" = "all"): Step => Step.ReadBody({ bytes })

/** Writes raw bytes. */
export const write = (bytes: string | Uint8Array): Step => Step.Write({ bytes: bytesOf(bytes) })

/** Writes a few bytes at a time, with a pause before each piece. */
export const drip = (bytes: string | Uint8Array, every: Duration.Input, size = 1): Step =>
  Step.Drip({ bytes: bytesOf(bytes), every, size })

/** Writes the same bytes repeatedly, as fast as they are read (default: without end). */
export const flood = (bytes: string | Uint8Array, times = Infinity): Step =>
  Step.Flood({ bytes: bytesOf(bytes), times })

/** Reads the rest of the request, and responds. */
export const respond = (answer: Answer): Step => Step.Respond({ answer })

/** Waits for a signal of the test. */
export const waitFor = (gate: Effect.Effect<unknown>): Step => Step.WaitFor({ gate })

/** Resets the connection (RST). */
export const reset: Step = Step.Reset()

/** Closes the connection (FIN). */
export const finish: Step = Step.Finish()

/** Sends nothing more and keeps reading until the peer disconnects or the scope closes. */
export const stall: Step = Step.Stall()

/** Keeps the connection open for its next request and script, as the end of a script does. */
export const next: Step = Step.Next()

/** The bytes of a complete response, for steps that send only a part. */
export const answerBytes = ({ body = "", headers = {}, status }: Answer): Uint8Array => {
  const content = bytesOf(body)
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const lines = [`HTTP/1.1 ${status} Status`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  if (content.length > 0 && !given.has("content-type")) lines.push("Content-Type: application/json")
  if (!given.has("content-length") && !given.has("transfer-encoding")) lines.push(`Content-Length: ${content.length}`)
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), content])
}
