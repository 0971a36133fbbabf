/**
 * What a faulty server does, as data: a script of steps for a connection or for a request.
 */
import { Data, type Duration, type Effect } from "effect"

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

export type Script = ReadonlyArray<Step>

/**
 * A whole answer. The length is added where the headers say nothing of it, and that it is JSON where there is a body.
 */
export interface Answer {
  readonly status: number
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly body?: string | Uint8Array | undefined
}

export const Step = Data.taggedEnum<Step>()

const encoder = new TextEncoder()

export const bytesOf = (text: string | Uint8Array): Uint8Array =>
  typeof text === "string" ? encoder.encode(text) : text

/** Waits for the head of a request. Where a script is chosen by its request, that has been read already. */
export const readHead: Step = Step.ReadHead()

/** Reads so many more bytes of the request's body, as it was framed, or all of it. */
export const readBody = (bytes: number | "all" = "all"): Step => Step.ReadBody({ bytes })

/** Writes bytes as they are, whatever HTTP says about them. */
export const write = (bytes: string | Uint8Array): Step => Step.Write({ bytes: bytesOf(bytes) })

/** Writes a few bytes at a time, with a pause before each. */
export const drip = (bytes: string | Uint8Array, every: Duration.Input, size = 1): Step =>
  Step.Drip({ bytes: bytesOf(bytes), every, size })

/** Writes the same bytes again and again, as fast as they are taken; without an end where no number is given. */
export const flood = (bytes: string | Uint8Array, times = Infinity): Step =>
  Step.Flood({ bytes: bytesOf(bytes), times })

/** Reads what is left of the request, and answers. */
export const respond = (answer: Answer): Step => Step.Respond({ answer })

/** Goes on when the test says so. */
export const waitFor = (gate: Effect.Effect<unknown>): Step => Step.WaitFor({ gate })

/** Breaks the connection off, with RST. */
export const reset: Step = Step.Reset()

/** Ends the connection, with FIN. */
export const finish: Step = Step.Finish()

/** Says nothing more, and reads what still comes, until the other side goes or the scope closes. */
export const stall: Step = Step.Stall()

/** Keeps the connection for its next request and the script of that one. The end of a script means the same. */
export const next: Step = Step.Next()

/** The bytes of a whole answer, for steps that send only a part of them. */
export const answerBytes = ({ body = "", headers = {}, status }: Answer): Uint8Array => {
  const content = bytesOf(body)
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const lines = [`HTTP/1.1 ${status} Status`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  if (content.length > 0 && !given.has("content-type")) lines.push("Content-Type: application/json")
  if (!given.has("content-length") && !given.has("transfer-encoding")) lines.push(`Content-Length: ${content.length}`)
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), content])
}
