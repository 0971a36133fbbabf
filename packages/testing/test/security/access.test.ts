/**
 * Who gets in, from where and for how long, and how many keys there are.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Agent, request } from "node:http"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { ask, askJson, type Asked, refusedWith, succeeded, succeededEmpty, Wire } from "../wire/Wire.ts"
import { deleteKey, makeKey, unknownKey } from "./Access.ts"

/** UTF-8 as it goes over the wire in a header, one character a byte. */
const bytes = (text: string) => Buffer.from(text).toString("latin1")

/** Lists the contacts over a connection of an agent. Gives the status, and the port of the connection. */
const listOn = Effect.fnUntraced(function* (agent: Agent, key: string) {
  const { served } = yield* Wire
  const { hostname, pathname, port } = new URL(served.baseUrl)
  return yield* Effect.callback<readonly [status: number, port: number | undefined]>((resume) => {
    const headers = { "X-Service-ApiKey": key }
    const sent = request({ agent, hostname, port, path: `${pathname}/contacts`, headers }, (response) => {
      const from = response.socket.localPort
      response.resume()
      response.on("end", () => resume(Effect.succeed([response.statusCode ?? 0, from])))
    })
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end()
  })
})

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("access", (it) => {
  // Before all tests with wrong keys, of which the later ones wait.
  it.effect("each request on a connection is answered by its own key, whichever came before", () =>
    Effect.gen(function* () {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const mayList = yield* makeKey({ Name: "may list", AccessLevel: ["ViewContacts"] })
      const mayNot = yield* makeKey({ Name: "may not", AccessLevel: ["Export"] })
      const asked = [mayList, mayNot, unknownKey(1), mayList, mayList.toUpperCase(), unknownKey(2), mayNot, mayList]
      const answers = yield* Effect.forEach(asked, (key) => listOn(agent, key))
      assert.deepStrictEqual(
        answers.map(([status]) => status),
        [200, 403, 401, 200, 401, 401, 403, 200]
      )
      assert.strictEqual(new Set(answers.map(([, port]) => port)).size, 1)
      agent.destroy()
      yield* deleteKey("may list")
      yield* deleteKey("may not")
    })
  )

  it.effect("a key is told the id of the contacts of its account, and no other key is", () =>
    Effect.gen(function* () {
      const { administratorKey } = yield* Wire
      const ofMain = yield* makeKey({ Name: "of main", AccessLevel: ["SendHttp"] })
      const ofSub = yield* makeKey({ Name: "of sub", AccessLevel: ["ViewContacts"], Subaccount: "sub@example.com" })
      const idFor = (key: string | null) =>
        Effect.map(ask("GET", "/contacts?limit=1", { key }), ({ headers }) => headers["roster-store"])
      const id = yield* idFor(administratorKey)
      assert.match(String(id), /^[0-9a-f]{32}$/)
      // A key that may not read is told, too.
      assert.strictEqual(yield* idFor(ofMain), id)
      const other = yield* idFor(ofSub)
      assert.match(String(other), /^[0-9a-f]{32}$/)
      assert.notStrictEqual(other, id)
      assert.strictEqual(yield* idFor(unknownKey(1)), undefined)
      assert.strictEqual(yield* idFor(null), undefined)
      yield* deleteKey("of main")
      yield* deleteKey("of sub", "sub@example.com")
    })
  )

  it.effect("S01 a key that is none is 401 in the same words, however it is wrong, and nothing is written", () =>
    Effect.gen(function* () {
      const { administratorKey: right } = yield* Wire
      const wrong: ReadonlyArray<readonly [what: string, asked: Asked]> = [
        ["missing", { key: null }],
        ["empty", { key: "" }],
        ["spaces", { key: "   " }],
        ["two headers", { key: null, headers: { "X-Service-ApiKey": [right, right] } }],
        ["both headers", { headers: { "X-ElasticEmail-ApiKey": right } }],
        ["a scheme word alone", { key: "Bearer" }],
        ["Bearer k", { key: "Bearer k" }],
        ["bearer  k", { key: "bearer  k" }],
        ["two scheme words", { key: `Bearer Bearer ${right}` }],
        ["unicode", { key: bytes("ключ 😀") }],
        ["10 KB", { key: "k".repeat(10_000) }],
        ["unknown", { key: unknownKey(1) }],
        ["cut", { key: right.slice(0, -1) }],
        ["longer", { key: `${right}0` }],
        ["in capitals", { key: right.toUpperCase() }],
        ["quoted", { key: `"${right}"` }],
        ["with a NUL behind it", { key: `${right}%00` }]
      ]
      const bodies = yield* Effect.forEach(
        wrong,
        ([what, asked]) =>
          askJson("POST", "/contacts", [{ Email: "written@example.com" }], asked).pipe(
            Effect.tap((answer) => Effect.sync(() => refusedWith({ ...answer, text: answer.text }, 401))),
            Effect.map(({ text }) => [what, text] as const)
          ),
        { concurrency: "unbounded" }
      )
      for (const [what, text] of bodies) assert.strictEqual(text, bodies[0]?.[1], what)
      // Node itself refuses a head this long, before anything of ours sees it, and hangs up on who goes on writing.
      const long = (size: number) =>
        Effect.exit(askJson("POST", "/contacts", [{ Email: "written@example.com" }], { key: "k".repeat(size) }))
      const twentyKilobytes = yield* long(20_000)
      assert.strictEqual(Exit.isSuccess(twentyKilobytes) ? twentyKilobytes.value.status : undefined, 431)
      const megabyte = yield* long(2 ** 20)
      assert.include([431, undefined], Exit.isSuccess(megabyte) ? megabyte.value.status : undefined)
      refusedWith(yield* ask("GET", "/contacts/written@example.com"), 404)
      for (const key of [right, `Bearer ${right}`, `bearer  ${right}`])
        succeeded(yield* ask("GET", "/contacts", { key }))
    })
  )

  it.effect("S06 a key that is deleted or downgraded is refused on the connection that it opened", () =>
    Effect.gen(function* () {
      for (const [how, expected] of [
        ["deleted", 401],
        ["downgraded", 403]
      ] as const) {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const key = yield* makeKey({ Name: how, AccessLevel: ["ViewContacts"] })
        const get = listOn(agent, key)
        const [status, from] = yield* get
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(yield* get, [200, from])
        if (how === "deleted") yield* deleteKey(how)
        else succeeded(yield* askJson("PUT", `/security/apikeys/${how}`, { Name: how, AccessLevel: ["Export"] }))
        assert.deepStrictEqual(yield* get, [expected, from], how)
        agent.destroy()
      }
      yield* deleteKey("downgraded")
    })
  )

  it.effect("S06 a key that is revoked while a request of its own waits for its body makes no key any more", () =>
    Effect.gen(function* () {
      const { served } = yield* Wire
      const { hostname, pathname, port } = new URL(served.baseUrl)
      const AccessLevel = ["ModifyAccessTokens", "ViewContacts"]
      for (const [how, expected] of [
        ["deleted", 401],
        ["downgraded", 403]
      ] as const) {
        const name = `slow ${how}`
        const key = yield* makeKey({ Name: name, AccessLevel })
        const body = JSON.stringify({ Name: "too late", AccessLevel: ["ViewContacts"] })
        const headers = {
          "X-Service-ApiKey": key,
          "Content-Type": "application/json",
          "Content-Length": String(body.length)
        }
        const path = `${pathname}/security/apikeys`
        const sent = request({ agent: false, hostname, port, path, method: "POST", headers })
        const status = Effect.callback<number>((resume) => {
          sent.on("response", (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode ?? 0))
          })
          sent.on("error", (error) => resume(Effect.die(error)))
        })
        sent.write(body.slice(0, 5))
        // The use of a key is noted once it was found good: from here on the request waits for nothing but its body.
        const listed = ask("GET", `/security/apikeys/${encodeURIComponent(name)}`)
        yield* eventually(listed, (answer) => answer.text.includes('"LastUse":"'))
        if (how === "deleted") yield* deleteKey(name)
        else
          succeeded(
            yield* askJson("PUT", `/security/apikeys/${encodeURIComponent(name)}`, {
              Name: name,
              AccessLevel: ["ViewContacts"]
            })
          )
        sent.end(body.slice(5))
        assert.strictEqual(yield* status, expected, how)
        refusedWith(yield* ask("GET", "/security/apikeys/too%20late"), 404)
      }
      yield* deleteKey("slow downgraded")
    })
  )

  it.effect("S07 a key is bound to the address of its peer, whatever headers say, where no proxy is trusted", () =>
    Effect.gen(function* () {
      const key = yield* makeKey({
        Name: "ranged",
        AccessLevel: ["ViewContacts"],
        RestrictAccessToIPRange: ["10.0.0.0/8", "2001:db8::/32"]
      })
      for (const headers of [
        { "X-Forwarded-For": "10.0.0.1" },
        { "X-Forwarded-For": "10.0.0.1, 10.0.0.2" },
        { Forwarded: "for=10.0.0.1;proto=https" },
        { Forwarded: 'for="[2001:db8::1]"' },
        { "X-Real-IP": "10.0.0.1", "True-Client-IP": "10.0.0.1", "X-Client-IP": "10.0.0.1", Via: "1.1 10.0.0.1" }
      ])
        refusedWith(yield* ask("GET", "/contacts", { key, headers }), 403)
      succeeded(
        yield* askJson("PUT", "/security/apikeys/ranged", {
          Name: "ranged",
          AccessLevel: ["ViewContacts"],
          RestrictAccessToIPRange: ["127.0.0.1"]
        })
      )
      succeeded(yield* ask("GET", "/contacts", { key, headers: { "X-Forwarded-For": "192.0.2.1" } }))
      yield* deleteKey("ranged")
    })
  )

  it.effect("S12 fifty simultaneous creations of one name make one key", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, i) => i),
        () => askJson("POST", "/security/apikeys", { Name: "contested", AccessLevel: ["ViewContacts"] }),
        { concurrency: "unbounded" }
      )
      const statuses = answers.map(({ status }) => status)
      assert.deepStrictEqual(statuses.toSorted(), [201, ...Array.from({ length: 49 }, () => 409)])
      for (const answer of answers) if (answer.status === 409) assert.include(refusedWith(answer, 409), "contested")
      const listed = (yield* ask("GET", "/security/apikeys")).text
      assert.strictEqual(listed.split('"contested"').length, 2)
      yield* deleteKey("contested")
    })
  )

  it.effect("S12 the sixteenth key is refused, and the administrator key is one of the fifteen", () =>
    Effect.gen(function* () {
      const there = [succeeded(yield* ask("GET", "/security/apikeys"))].flat()
      assert.deepStrictEqual(
        there.map((key) => Object(key).Name),
        ["administrator"]
      )
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => `n${i}`),
        (Name) => askJson("POST", "/security/apikeys", { Name, AccessLevel: [] }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 14)
      for (const answer of answers) if (answer.status !== 201) assert.include(refusedWith(answer, 409), "15")
      assert.strictEqual([succeeded(yield* ask("GET", "/security/apikeys"))].flat().length, 15)
      for (const [i, { status }] of answers.entries()) if (status === 201) yield* deleteKey(`n${i}`)
    })
  )

  it.effect("S12 the name of SMTP credentials is taken in the whole service", () =>
    Effect.gen(function* () {
      succeeded(yield* askJson("POST", "/security/smtp", { Name: "login@example.com" }), 201)
      for (const Subaccount of [undefined, "one@example.com"]) {
        const again = yield* askJson("POST", "/security/smtp", { Name: "LOGIN@example.com", Subaccount })
        assert.include(refusedWith(again, 409), "taken")
      }
      refusedWith(yield* askJson("POST", "/security/smtp", { Name: "no address" }), 400)
      succeededEmpty(yield* ask("DELETE", "/security/smtp/login@example.com"))
    })
  )
})

layer(Wire.layerWith(["--trusted-proxy", "127.0.0.1", "--trusted-proxy", "198.51.100.0/24"]), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("access behind a proxy", (it) => {
  it.effect("S07 a configured proxy says where a request comes from: the last address that is none of its own", () =>
    Effect.gen(function* () {
      const key = yield* makeKey({
        Name: "ranged",
        AccessLevel: ["ViewContacts"],
        RestrictAccessToIPRange: ["10.0.0.0/8", "2001:db8::/32"]
      })
      const from = (value: string | ReadonlyArray<string>) =>
        Effect.map(ask("GET", "/contacts", { key, headers: { "X-Forwarded-For": value } }), ({ status }) => status)
      for (const [value, status] of [
        ["10.0.0.1", 200],
        ["192.0.2.1, 10.0.0.1", 200],
        ["10.0.0.1, 192.0.2.1", 403],
        ["10.0.0.1, 198.51.100.7", 200],
        ["192.0.2.1, 10.0.0.1, 198.51.100.7, 127.0.0.1", 200],
        ["10.0.0.1, 192.0.2.1, 198.51.100.7", 403],
        ["10.0.0.1:5123", 200],
        ["2001:db8::7", 200],
        ["[2001:db8::7]:443", 200],
        ["::ffff:10.0.0.1", 200],
        ["192.0.2.1", 403],
        ["10.0.0.1, unknown", 403],
        ["10.0.0.1,", 403],
        ["", 403],
        ["198.51.100.7", 403]
      ] as const)
        assert.strictEqual(yield* from(value), status, value)
      assert.strictEqual(yield* from(["10.0.0.1", "192.0.2.1"]), 403)
      assert.strictEqual(yield* from(["192.0.2.1", "10.0.0.1"]), 200)
      refusedWith(yield* ask("GET", "/contacts", { key, headers: { Forwarded: "for=10.0.0.1" } }), 403)
      refusedWith(yield* ask("GET", "/contacts", { key }), 403)
    })
  )
})
