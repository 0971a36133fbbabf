/**
 * Whether the address of a service can be reached, step by step: its name, a connection, its certificate, and what time it
 * has. No key is sent.
 */
import { Effect, Result } from "effect"
import { lookup } from "node:dns/promises"
import { request as requestPlain } from "node:http"
import { request as requestTls } from "node:https"
import { TLSSocket } from "node:tls"
import { failed, type Finding, ok, warning } from "./Diagnosis.ts"

/** Whether a host is this machine, so that nothing that is sent to it can be read on the way. */
export const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)

const timeout = 5000

/** What the head of an answer tells. */
interface Answer {
  readonly status: number
  readonly date: string | undefined
  /** When the certificate ends; `undefined` without TLS. */
  readonly validTo: string | undefined
  readonly protocol: string | undefined
}

/** Fails with the reason in words. */
const ask = (url: URL): Effect.Effect<Answer, string> =>
  Effect.callback((resume) => {
    const send = url.protocol === "https:" ? requestTls : requestPlain
    const request = send(`${url.href.replace(/\/$/, "")}/contacts?limit=1`, { agent: false, timeout }, (response) => {
      const { socket } = response
      const tls = socket instanceof TLSSocket ? socket : undefined
      resume(
        Effect.succeed({
          status: response.statusCode ?? 0,
          date: response.headers.date,
          validTo: tls?.getPeerCertificate().valid_to,
          protocol: tls?.getProtocol() ?? undefined
        })
      )
      response.destroy()
    })
    request.on("timeout", () => request.destroy(new Error(`no answer within ${timeout / 1000} seconds`)))
    request.on("error", (error) => resume(Effect.fail(error.message)))
    request.end()
    return Effect.sync(() => request.destroy())
  })

/** Farther apart, and keys expire at surprising times. */
const toleratedSkewMillis = 60_000

const clock = (date: string | undefined): Finding => {
  const skew = date === undefined ? Number.NaN : Date.parse(date) - Date.now()
  if (Number.isNaN(skew)) return warning("clock", "the service does not say what time it has")
  const seconds = Math.round(Math.abs(skew) / 1000)
  return Math.abs(skew) > toleratedSkewMillis
    ? warning("clock", `this machine is ${seconds} s ${skew > 0 ? "behind" : "ahead of"} the service`)
    : ok("clock", `within ${seconds} s of the service`)
}

const dayMillis = 24 * 60 * 60 * 1000

const certificate = ({ protocol, validTo }: Answer): ReadonlyArray<Finding> => {
  if (validTo === undefined) return []
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMillis)
  const detail = `${protocol}, the certificate is good for ${days} more days`
  return [days < 14 ? warning("tls", detail) : ok("tls", detail)]
}

export const reachability = Effect.fnUntraced(function* (baseUrl: string) {
  const url = URL.parse(baseUrl)
  if (url === null) return [failed("address", `${baseUrl} is no address`)]
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const name = yield* Effect.result(Effect.tryPromise(() => lookup(host, { all: true })))
  if (Result.isFailure(name)) {
    return [failed("name", `${host} is not known to the name servers of this machine`)]
  }
  const named = ok("name", `${host} is ${name.success.map(({ address }) => address).join(", ")}`)
  const answer = yield* Effect.result(ask(url))
  if (Result.isFailure(answer)) return [named, failed("connection", answer.failure)]
  const plain =
    url.protocol === "http:" && !isThisMachine(host)
      ? [warning("tls", "the address is http: keys would travel unencrypted")]
      : []
  return [
    named,
    ok("connection", `it answers, with ${answer.success.status} to a request without a key`),
    ...plain,
    ...certificate(answer.success),
    clock(answer.success.date)
  ]
})
