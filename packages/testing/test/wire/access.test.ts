import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, FileSystem, Path } from "effect"
import { NodeServices } from "@effect/platform-node"
import { eventually } from "../../src/index.ts"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, textField, Wire } from "./Wire.ts"

/** By hand from the service interface: the operations with the level that each requires. */
const operations: ReadonlyArray<readonly [method: string, path: string, level: string]> = [
  ["DELETE", "/contacts/a@example.com", "ModifyContacts"],
  ["GET", "/contacts/a@example.com", "ViewContacts"],
  ["PUT", "/contacts/a@example.com", "ModifyContacts"],
  ["POST", "/contacts/delete", "ModifyContacts"],
  ["GET", "/contacts/export/00000000-0000-4000-8000-000000000000/status", "Export"],
  ["POST", "/contacts/export", "Export"],
  ["GET", "/contacts", "ViewContacts"],
  ["POST", "/contacts/import", "ModifyContacts"],
  ["POST", "/contacts", "ModifyContacts"],
  ["DELETE", "/security/apikeys/none", "ModifyAccessTokens"],
  ["GET", "/security/apikeys/none", "Security"],
  ["PUT", "/security/apikeys/none", "ModifyAccessTokens"],
  ["GET", "/security/apikeys", "Security"],
  ["POST", "/security/apikeys", "ModifyAccessTokens"],
  ["DELETE", "/security/smtp/none@example.com", "ModifyAccessTokens"],
  ["GET", "/security/smtp/none@example.com", "Security"],
  ["PUT", "/security/smtp/none@example.com", "ModifyAccessTokens"],
  ["GET", "/security/smtp", "Security"],
  ["POST", "/security/smtp", "ModifyAccessTokens"],
  ["POST", "/emails", "SendHttp"]
]
const levels = [...new Set(operations.map(([, , level]) => level))]

const wrongKey = "wrong-key-canary-93b1"

/** A request that would be refused for its body, its type and its query too, were the key good. */
const hopeless = { headers: { "Content-Type": "text/nonsense" }, body: "{{{" }

const makeKey = Effect.fnUntraced(function* (payload: {
  readonly Name: string
  readonly AccessLevel: ReadonlyArray<string>
  readonly [field: string]: unknown
}) {
  return textField(succeeded(yield* askJson("POST", "/security/apikeys", payload), 201), "Token")
})

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("access on the wire", (it) => {
  describe("a key", () => {
    it.effect("S08 that is none is 401 before anything else", () =>
      // Wrong keys are answered later and later, so they ask side by side.
      Effect.forEach(
        operations.flatMap(([method, path]) =>
          [wrongKey, null, "", " ", "Bearer", `Bearer ${wrongKey}`].map((key) => [method, path, key] as const)
        ),
        Effect.fnUntraced(function* ([method, path, key]) {
          const text = refusedWith(yield* ask(method, `${path}?limit=-1&fileFormat=Pdf`, { ...hopeless, key }), 401)
          assert.notInclude(text, wrongKey)
        }),
        { concurrency: "unbounded", discard: true }
      )
    )

    it.effect(
      "S08 opens what its level opens and nothing else, before anything else is looked at",
      () =>
        Effect.gen(function* () {
          for (const level of levels) {
            const others = levels.filter((other) => other !== level)
            const only = yield* makeKey({ Name: `only ${level}`, AccessLevel: [level] })
            const without = yield* makeKey({ Name: `without ${level}`, AccessLevel: others })
            for (const [method, path, required] of operations) {
              const [opened, closed] = required === level ? [only, without] : [without, only]
              const text = refusedWith(yield* ask(method, `${path}?limit=-1`, { ...hopeless, key: closed }), 403)
              assert.include(text, required)
              const { status } = yield* ask(method, `${path}?limit=-1`, { ...hopeless, key: opened })
              assert.notInclude([401, 403], status, `${method} ${path} with ${required}`)
            }
            for (const name of [`only ${level}`, `without ${level}`])
              succeededEmpty(yield* ask("DELETE", `/security/apikeys/${encodeURIComponent(name)}`))
          }
        }),
      120_000
    )

    it.effect("S09 gives no level that it lacks itself, to a new key, to another or to itself", () =>
      Effect.gen(function* () {
        const key = yield* makeKey({ Name: "modest", AccessLevel: ["ModifyAccessTokens", "Export"] })
        refusedWith(
          yield* askJson(
            "POST",
            "/security/apikeys",
            { Name: "greedy", AccessLevel: ["Export", "ViewContacts"] },
            { key }
          ),
          403
        )
        refusedWith(
          yield* askJson(
            "PUT",
            "/security/apikeys/modest",
            { Name: "modest", AccessLevel: ["ModifyAccessTokens", "Export", "ViewContacts"] },
            { key }
          ),
          403
        )
        refusedWith(yield* ask("GET", "/security/apikeys/greedy"), 404)
        refusedWith(yield* ask("GET", "/contacts", { key }), 403)
        succeeded(yield* askJson("POST", "/security/apikeys", { Name: "fine", AccessLevel: ["Export"] }, { key }), 201)
        for (const name of ["modest", "fine"]) succeededEmpty(yield* ask("DELETE", `/security/apikeys/${name}`))
      })
    )

    it.effect("S10 of a subaccount manages no credentials of the account or of another subaccount", () =>
      Effect.gen(function* () {
        const AccessLevel = ["ModifyAccessTokens", "Security"]
        const key = yield* makeKey({ Name: "of one", AccessLevel, Subaccount: "one@example.com" })
        yield* makeKey({ Name: "of two", AccessLevel, Subaccount: "two@example.com" })
        for (const query of ["", "?subaccount=two%40example.com"]) {
          const listed = yield* ask("GET", `/security/apikeys${query}`, { key })
          assert.notInclude(listed.text, "of two")
          assert.notInclude(listed.text, "administrator")
          const answer = yield* ask("DELETE", `/security/apikeys/of%20two${query}`, { key })
          assert.include([403, 404], answer.status)
          refusedWith(answer, answer.status)
        }
        refusedWith(
          yield* askJson(
            "POST",
            "/security/apikeys",
            { Name: "mine", AccessLevel, Subaccount: "two@example.com" },
            { key }
          ),
          403
        )
        succeeded(yield* ask("GET", "/security/apikeys/of%20two?subaccount=two%40example.com"))
      })
    )

    it.effect("may stand in either header, whatever the case of its name, behind a scheme word", () =>
      Effect.gen(function* () {
        const { administratorKey } = yield* Wire
        for (const name of ["X-Service-ApiKey", "x-service-apikey", "X-ElasticEmail-ApiKey", "X-ELASTICEMAIL-APIKEY"]) {
          for (const value of [administratorKey, `Bearer ${administratorKey}`]) {
            succeeded(yield* ask("GET", "/contacts", { key: null, headers: { [name]: value } }))
          }
        }
        const names = ["X-Service-ApiKey", "X-ELASTICEMAIL-APIKEY"]
        const wrong = names.flatMap((name) => [
          [name, administratorKey.slice(0, -1)] as const,
          [name, administratorKey.toUpperCase()] as const,
          ["Authorization", `Bearer ${administratorKey}`] as const
        ])
        const answers = yield* Effect.forEach(
          wrong,
          ([name, key]) => ask("GET", `/contacts?apikey=${administratorKey}`, { key: null, headers: { [name]: key } }),
          { concurrency: "unbounded" }
        )
        for (const answer of answers) refusedWith(answer, 401)
      })
    )

    it.effect("that has expired is 401", () =>
      Effect.gen(function* () {
        const soon = new Date((yield* Clock.currentTimeMillis) + 2000).toISOString()
        const key = yield* makeKey({ Name: "expired", AccessLevel: ["ViewContacts"], Expires: soon })
        succeeded(yield* ask("GET", "/contacts", { key }))
        refusedWith(yield* eventually(ask("GET", "/contacts", { key }), (answer) => answer.status !== 200), 401)
        succeeded(
          yield* askJson("PUT", "/security/apikeys/expired", {
            Name: "expired",
            AccessLevel: ["ViewContacts"],
            Expires: null
          })
        )
        succeeded(yield* ask("GET", "/contacts", { key }))
      })
    )

    it.effect("S07 is 403 from outside its ranges", () =>
      Effect.gen(function* () {
        const key = yield* makeKey({
          Name: "ranged",
          AccessLevel: ["ViewContacts"],
          RestrictAccessToIPRange: ["10.0.0.0/8", "2001:db8::/32", "::1"]
        })
        refusedWith(yield* ask("GET", "/contacts", { key }), 403)
        // Whoever asks may write what they like into these.
        for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
          refusedWith(yield* ask("GET", "/contacts", { key, headers: { [name]: "10.0.0.1" } }), 403)
        succeeded(
          yield* askJson("PUT", "/security/apikeys/ranged", {
            Name: "ranged",
            AccessLevel: ["ViewContacts"],
            RestrictAccessToIPRange: ["10.0.0.0/8", "127.0.0.0/8"]
          })
        )
        succeeded(yield* ask("GET", "/contacts", { key }))
      })
    )

    it.effect("says when it was last used", () =>
      Effect.gen(function* () {
        const key = yield* makeKey({ Name: "used", AccessLevel: ["ViewContacts"] })
        assert.include([null, undefined], Object(succeeded(yield* ask("GET", "/security/apikeys/used"))).LastUse)
        succeeded(yield* ask("GET", "/contacts", { key }))
        assert.match(
          textField(succeeded(yield* ask("GET", "/security/apikeys/used")), "LastUse"),
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
        )
      })
    )

    it.effect("of SMTP opens nothing here", () =>
      Effect.gen(function* () {
        const token = textField(
          succeeded(yield* askJson("POST", "/security/smtp", { Name: "smtp@example.com" }), 201),
          "Token"
        )
        refusedWith(yield* ask("GET", "/contacts", { key: token }), 401)
      })
    )

    it.effect("S10 of a subaccount sees the contacts of the subaccount and no others", () =>
      Effect.gen(function* () {
        const key = yield* makeKey({
          Name: "sub",
          AccessLevel: ["ViewContacts", "ModifyContacts"],
          Subaccount: "sub@example.com"
        })
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "own@example.com" }]))
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "of-sub@example.com" }], { key }))
        refusedWith(yield* ask("GET", "/contacts/of-sub@example.com"), 404)
        refusedWith(yield* ask("GET", "/contacts/own@example.com", { key }), 404)
        assert.deepStrictEqual(
          [succeeded(yield* ask("GET", "/contacts", { key }))].flat().map((contact) => textField(contact, "Email")),
          ["of-sub@example.com"]
        )
      })
    )
  })

  describe("secrets", () => {
    it.effect("S03 are in no answer but the one that hands them out, in no output, and in no file", () =>
      Effect.gen(function* () {
        const { administratorKey, answers, served } = yield* Wire
        const token = yield* makeKey({ Name: "canary", AccessLevel: ["ViewContacts"] })
        yield* ask("GET", "/contacts", { key: token })
        yield* ask("GET", "/contacts", { key: wrongKey })
        yield* ask("GET", `/${wrongKey}`, { key: wrongKey, headers: { "X-ElasticEmail-ApiKey": wrongKey } })
        for (const secret of [administratorKey, wrongKey, token]) assert.notInclude(served.output(), secret)
        for (const secret of [administratorKey, wrongKey]) assert.notInclude(answers(), secret)
        assert.strictEqual(answers().split(token).length, 2)
        const fileSystem = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const folder = path.dirname(served.filename)
        const names = yield* fileSystem.readDirectory(folder, { recursive: true })
        const files = yield* Effect.filter(names, (name) =>
          Effect.map(
            fileSystem.stat(path.join(folder, name)),
            ({ type }) => type === "File" && path.join(folder, name) !== served.keyFile
          )
        )
        assert.include(files, path.basename(served.filename))
        for (const file of files) {
          const content = Buffer.from(yield* fileSystem.readFile(path.join(folder, file)))
          for (const secret of [administratorKey, wrongKey, token])
            assert.isFalse(content.includes(secret), `${secret.slice(0, 4)}… is in ${file}`)
        }
      }).pipe(Effect.provide(NodeServices.layer))
    )
  })
})
