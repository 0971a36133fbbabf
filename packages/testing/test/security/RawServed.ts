/** A service in this process on a fresh store, and connections to it that send what the test writes, to the byte. */
import { assert } from "@effect/vitest"
import { IpRange } from "@roster/domain"
import { RosterServer } from "@roster/server"
import { Context, Effect, Layer, Redacted } from "effect"
import { connect, type Socket } from "node:net"
import { readExposition, sampleOf } from "../observability/Exposition.ts"

type ServeOptions = RosterServer.ServeOptions<never, never>

interface Options extends Pick<ServeOptions, "connectionLimits" | "metrics" | "page" | "publicUrl" | "tls"> {
  readonly trustedProxies?: ReadonlyArray<string>
  /** Default: in memory. */
  readonly store?: ServeOptions["store"]
}

export interface RawServed {
  /** The base address. */
  readonly address: string
  /** The administrator key. */
  readonly key: string
  readonly metricsAddress?: string | undefined
}

export const rawServed = Effect.fnUntraced(function* ({
  store = { filename: ":memory:" },
  trustedProxies = [],
  ...options
}: Options = {}) {
  let key = ""
  const services = yield* Layer.build(
    RosterServer.layer({
      ...options,
      trustedProxies: trustedProxies.map((range) => IpRange.make(range)),
      port: 0,
      store,
      onAdministratorKey: (given) =>
        Effect.sync(() => {
          key = Redacted.value(given)
        })
    })
  )
  const served: RawServed = { ...Context.get(services, RosterServer.RosterServer), key }
  return served
})

/** The sum of the samples of a metric. */
export const metricOf = ({ metricsAddress = "" }: RawServed, name: string) =>
  Effect.promise(async () => sampleOf(readExposition(await (await fetch(metricsAddress)).text()), name) ?? NaN)

/** The service with the key of a subaccount. */
export const ofSubaccount = Effect.fnUntraced(function* (served: RawServed, name: string) {
  const payload = JSON.stringify({
    Name: name,
    AccessLevel: ["ModifyContacts", "ViewContacts"],
    Subaccount: `${name}@example.com`
  })
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": String(payload.length),
    Connection: "close"
  }
  const { closed } = yield* dial(served, head(served, "POST /v4/security/apikeys", headers) + payload)
  const { Token }: { Token: string } = JSON.parse(bodyOf(yield* closed))
  return { ...served, key: Token }
})

export interface Connection {
  readonly socket: Socket
  /** What has arrived so far. */
  readonly received: () => string
  /** Waits until what has arrived holds; dies if the connection closes before. */
  readonly until: (holds: RegExp) => Effect.Effect<string>
  /** Waits until the connection is closed, and gives all that arrived. */
  readonly closed: Effect.Effect<string>
}

/** Opens a connection, from another address of this machine if one is given, and writes the text. */
export const dial = ({ address }: RawServed, text = "", from?: string) =>
  Effect.acquireRelease(
    Effect.callback<Connection>((resume) => {
      const { hostname, port } = new URL(address)
      let received = ""
      let isClosed = false
      const to = { host: hostname, port: Number(port) }
      const socket = connect(from === undefined ? to : { ...to, localAddress: from }, () => {
        if (text !== "") socket.write(text)
        resume(Effect.succeed(connection))
      })
      const when = (holds: () => boolean) =>
        Effect.callback<string>((resume) => {
          const look = () => {
            if (holds()) resume(Effect.succeed(received))
            else if (isClosed) resume(Effect.die(new Error(`the connection closed after: ${received}`)))
          }
          socket.on("data", look)
          socket.on("close", look)
          look()
        })
      const connection: Connection = {
        socket,
        received: () => received,
        until: (pattern) => when(() => pattern.test(received)),
        closed: when(() => isClosed)
      }
      socket.on("data", (part) => {
        received += part.toString("latin1")
      })
      // A connection that is refused may also be reset.
      socket.on("error", () => {})
      socket.on("close", () => {
        isClosed = true
      })
    }),
    ({ socket }) => Effect.sync(() => socket.resetAndDestroy())
  )

/** The head of a request, with the key and the host of the service unless others are given. */
export const head = (
  { address, key }: RawServed,
  line: string,
  headers: Readonly<Record<string, string | undefined>> = {}
): string => {
  const all = { Host: new URL(address).host, "X-Service-ApiKey": key, ...headers }
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n`
}

/** The response to a request without a body on a connection of its own. */
export const answerTo = (
  served: RawServed,
  line: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  from?: string
) =>
  Effect.scoped(
    Effect.flatMap(dial(served, head(served, line, { ...headers, Connection: "close" }), from), ({ closed }) => closed)
  )

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])

export const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4)

/** That an answer is a refusal with this status, in the one shape of errors. Gives its text. */
export const refusedAs = (answer: string, status: number): string => {
  assert.strictEqual(statusOf(answer), status, answer)
  assert.match(answer, /\r\ncontent-type: application\/json\r\n/i)
  const body: unknown = JSON.parse(bodyOf(answer))
  assert.deepStrictEqual(Object.keys(Object(body)), ["Error"])
  return String(Object(body).Error)
}
