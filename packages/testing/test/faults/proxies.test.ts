/**
 * Proxies of the environment: which calls go to one, what it may answer, and what is never printed of its address.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { InvalidSettings } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Cause, Effect, Exit, Schema } from "effect"
import { amount } from "../../src/simulation/LongRun.ts"
import { canary } from "./Canary.ts"
import { deleteByEmails, everyOperation, operationCall, ownOperations } from "./EveryOperation.ts"
import { answerBytes, finish, readBody, readHead, reset, respond, type Script, write } from "./server/FaultScript.ts"
import { faultServer } from "./server/FaultServer.ts"
import { trial } from "./FaultTrial.ts"
import { reason, succeeded } from "./Verdict.ts"

const names = ["http_proxy", "https_proxy", "no_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()])

/** Sets these variables of the environment and no others of their kind, for as long as the scope is open. */
const environment = (variables: { readonly [name: string]: string }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const name of names) vi.stubEnv(name, variables[name])
    }),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )

const get = operationCall("contactsByEmailGet")
const all = [...everyOperation, ...ownOperations, deleteByEmails]

/** The address of a proxy with a password that must not be printed. */
const withPassword = (port: number) => `http://user:${canary.password}@127.0.0.1:${port}`
const quick = UndiciHttpClient.layer({ connectTimeout: "200 millis" })

/** Calls a service that can be reached by a proxy alone, which plays a script for each tunnel. */
const tunnelled = Effect.fnUntraced(function* (operation: typeof get, script: Script) {
  const proxy = yield* faultServer({ requests: [script] })
  yield* environment({ https_proxy: withPassword(proxy.port) })
  const ended = yield* trial({
    plan: {},
    call: operation.call,
    client: () => ({ baseUrl: "https://service.example/v4" }),
    transport: quick
  })
  return { ended, proxy, requests: proxy.ledger.requests() }
}, Effect.scoped)

describe("Proxies", () => {
  it.live("a call to this machine goes to no proxy, under any of its names", () =>
    Effect.gen(function* () {
      const proxy = yield* faultServer({ requests: [[respond(get.answer)]] })
      for (const name of ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"]) {
        yield* environment({ [name]: withPassword(proxy.port), no_proxy: "other.example" })
        const ended = yield* trial({ plan: { requests: [[respond(get.answer)]] }, call: get.call })
        succeeded(ended, name)
        assert.strictEqual(ended.requests.length, 1)
        for (const host of [
          "localhost",
          "LOCALHOST",
          "127.1",
          "127.8.9.1",
          "[::1]",
          "[0:0:0:0:0:0:0:1]",
          "a.localhost"
        ]) {
          yield* trial({
            plan: {},
            call: get.call,
            client: () => ({ baseUrl: `http://${host}:9/v4` }),
            transport: quick,
            policy: { attempts: 1 }
          })
        }
      }
      assert.deepStrictEqual(proxy.ledger.connections(), [])
    })
  )

  it.live("a host in a range or by a name of NO_PROXY is called directly, and others are not", () =>
    Effect.gen(function* () {
      const proxy = yield* faultServer({ requests: [[respond({ status: 403 })]] })
      const excepted =
        "192.0.2.0/24, 2001:db8::/32 internal.example .corp.example,198.51.100.7,300.1.1.1/8,10.0.0.0/99,*.below.example," +
        "Port.Example.:8443,[2001:db9::1]:8443,2001:db9::2,*:9"
      yield* environment({ https_proxy: withPassword(proxy.port), NO_PROXY: excepted })
      for (const [host, isDirect] of [
        ["192.0.2.9", true],
        ["192.0.3.9", false],
        ["[2001:db8::7]", true],
        ["[2001:db9::7]", false],
        ["198.51.100.7", true],
        ["internal.example", true],
        ["a.corp.example", true],
        ["external.example", false],
        ["10.0.0.1", false],
        ["a.internal.example", true],
        ["xinternal.example", false],
        ["internal.example.", true],
        ["INTERNAL.example", true],
        ["below.example", false],
        ["a.below.example", true],
        ["port.example", false],
        ["port.example:8443", true],
        ["[2001:db9::1]", false],
        ["[2001:db9::1]:8443", true],
        ["[2001:db9::2]", true],
        ["external.example:9", true]
      ] as const) {
        const before = proxy.ledger.requests().length
        yield* trial({
          plan: {},
          call: get.call,
          client: () => ({ baseUrl: `https://${host}/v4` }),
          transport: quick,
          policy: { attempts: 1 }
        })
        assert.strictEqual(proxy.ledger.requests().length === before, isDirect, host)
      }
    })
  )

  it.live("a proxy without a scheme is one of http", () =>
    Effect.gen(function* () {
      const proxy = yield* faultServer({ requests: [[respond(get.answer)]] })
      for (const address of [
        `127.0.0.1:${proxy.port}`,
        `user:${canary.password}@127.0.0.1:${proxy.port}`,
        ` localhost:${proxy.port}\n`,
        `http://localhost:${proxy.port}/path?query#hash`
      ]) {
        yield* environment({ HTTP_PROXY: address })
        const before = proxy.ledger.requests().length
        const ended = yield* trial({
          plan: {},
          call: get.call,
          client: () => ({ baseUrl: "http://service.example/v4", allowInsecure: true })
        })
        succeeded(ended)
        assert.strictEqual(proxy.ledger.requests().length, before + 1)
        assert.match(proxy.ledger.requests()[before]?.target ?? "", /^http:\/\/service\.example\/v4\/contacts\//)
      }
    })
  )

  const Part = Schema.Literals([
    "http://",
    "https://",
    "socks5://",
    "ftp://",
    "://",
    "//",
    "proxy",
    ":3128",
    ":99999",
    "/path?query#hash",
    "[",
    "%zz",
    "user:",
    canary.password,
    "@",
    " ",
    "\u0000",
    "é"
  ])

  it.live.prop(
    "an address of a proxy that cannot be read is InvalidSettings, which names the variable and no part of it",
    [Schema.Array(Part), Schema.Literals(["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"])],
    ([parts, variable]) =>
      Effect.gen(function* () {
        yield* environment({ [variable]: parts.join("").replaceAll("\u0000", "") })
        // Dies if the password is printed.
        const { exit } = yield* trial({ plan: { requests: [[respond(get.answer)]] }, call: get.call })
        if (Exit.isSuccess(exit)) return
        const error = Cause.squash(exit.cause)
        assert.instanceOf(error, InvalidSettings)
        assert.deepInclude(error, { setting: "proxy", variable })
      }).pipe(Effect.scoped),
    { arbitrary: { runs: amount({ ci: 100, long: 2000 }) } }
  )

  it.live.each([
    `http://user:${canary.password}@proxy.example:99999`,
    `socks5://user:${canary.password}@proxy.example`,
    `http://us%zzer:${canary.password}@proxy.example:3128`,
    `http://user:${canary.password}@`,
    "http://[::1"
  ])("an address of a proxy that cannot be read is InvalidSettings: %#", (address) =>
    Effect.gen(function* () {
      yield* environment({ HTTPS_PROXY: address })
      const { exit } = yield* trial({ plan: {}, call: get.call })
      assert.isTrue(Exit.isFailure(exit))
      if (Exit.isFailure(exit)) assert.instanceOf(Cause.squash(exit.cause), InvalidSettings)
    })
  )

  it.live.each([400, 401, 403, 404, 407, 429, 500, 502, 503, 504, 511])(
    "a proxy that answers a tunnel with %d has passed nothing on: Unavailable, with its name",
    (status) =>
      Effect.gen(function* () {
        for (const operation of status === 407 || status === 502 ? all : [get, operationCall("contactsPost")]) {
          const { ended, proxy, requests } = yield* tunnelled(operation, [
            readHead,
            write(answerBytes({ status, headers: { Connection: "close" } })),
            finish
          ])
          const unavailable = reason(ended, "Unavailable", operation.id)
          assert.include(unavailable.message, `the proxy 127.0.0.1:${proxy.port} refuses`)
          assert.include(unavailable.message, `status ${status}`)
          assert.strictEqual(unavailable.isPermanent, status < 500 ? true : undefined)
          assert.isTrue(requests.every(({ method }) => method === "CONNECT"))
          assert.strictEqual(requests.length, status < 500 ? 1 : 3)
        }
      })
  )

  it.live.each([
    ["resets it", [readHead, reset]],
    ["closes it", [readHead, finish]],
    ["answers with noise", [readHead, write("SSH-2.0-OpenSSH_9.9\r\n"), finish]],
    ["answers with a long head", [readHead, write(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`), finish]],
    ["opens it and closes it", [readHead, write("HTTP/1.1 200 OK\r\n\r\n"), finish]],
    ["opens it to something without TLS", [readHead, write("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 Bad\r\n\r\n"), finish]]
  ] as const)("a proxy that is asked for a tunnel and %s leaves nothing in doubt", ([, script]) =>
    Effect.gen(function* () {
      for (const operation of [get, operationCall("contactsPost"), operationCall("securityApikeysPost")]) {
        reason((yield* tunnelled(operation, script)).ended, "Unavailable", operation.id)
      }
    })
  )

  it.live("a request that a proxy was to pass on and asks a password for was not passed on", () =>
    Effect.gen(function* () {
      const proxy = yield* faultServer({
        requests: [[readBody(), write(answerBytes({ status: 407, headers: { Connection: "close" } })), finish]]
      })
      yield* environment({ http_proxy: withPassword(proxy.port) })
      for (const operation of [get, operationCall("contactsPost")]) {
        const ended = yield* trial({
          plan: {},
          call: operation.call,
          client: () => ({ baseUrl: "http://service.example/v4", allowInsecure: true })
        })
        assert.include(reason(ended, "Unavailable", operation.id).message, `the proxy 127.0.0.1:${proxy.port} refuses`)
      }
      assert.strictEqual(proxy.ledger.requests().length, 2)
    })
  )
})
