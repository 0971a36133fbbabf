/** Both official clients in front of `roster serve`, on any store. */
import { NodeServices } from "@effect/platform-node"
import { assert, expect, layer } from "@effect/vitest"
import { operations } from "@roster/api"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { serveProcess, type ServeProcessOptions } from "../../src/index.ts"
import { axiosClient } from "./AxiosClient.ts"
import { contactScenarios } from "./ContactScenarios.ts"
import { credentialScenarios } from "./CredentialScenarios.ts"
import { as, asking, ErrorBody, Official, strangerKey } from "./Official.ts"
import { type Answer, type Driven, noting, type OfficialClient } from "./OfficialClient.ts"
import { listScenarios } from "./ListScenarios.ts"
import { superagentClient } from "./SuperagentClient.ts"

const ofInterface = Array.from(operations.values())
  .flatMap(({ announcedBy, id }) => (announcedBy === undefined ? [id] : []))
  .sort()

const clients: ReadonlyArray<readonly [name: string, make: (baseUrl: string, key: string) => OfficialClient]> = [
  ["@elasticemail/elasticemail-client-ts-axios", axiosClient],
  ["@elasticemail/elasticemail-client", superagentClient]
]

/** Drives all operations by both clients on the store of a process that `options` start. */
export const officialClients = (
  store: string,
  options: Effect.Effect<ServeProcessOptions, unknown, Scope.Scope>
): void => {
  for (const [name, make] of clients) {
    const driven: Driven = new Set()
    const official = Layer.effect(
      Official,
      Effect.map(Effect.flatMap(options, serveProcess), (served) => {
        const withKey = (key: string) => make(served.baseUrl, key)
        return {
          client: noting(withKey(Redacted.value(served.apiKey)), driven),
          stranger: withKey(strangerKey),
          withKey,
          served
        }
      })
    ).pipe(Layer.provide(NodeServices.layer))

    layer(official, { excludeTestServices: true, timeout: "60 seconds" })(`${name} on ${store}`, (it) => {
      contactScenarios(it)
      credentialScenarios(it)
      listScenarios(it)

      it.effect("sends a message", () =>
        Effect.gen(function* () {
          const message = (from: string) => ({
            Recipients: [{ Email: "someone@elsewhere.test", Fields: { name: "Someone" } }],
            Content: {
              From: from,
              Subject: "Hello",
              Body: [{ ContentType: "HTML", Content: "<b>Hi {name}</b>", Charset: "utf-8" }]
            },
            Options: { TrackOpens: true }
          })
          const sent = yield* asking((client) => client.emailsPost(message("John Doe <john@example.com>")), 200)
          expect(sent.data).toMatchObject({
            TransactionID: expect.stringMatching(/./),
            MessageID: expect.stringMatching(/./)
          })
          const { Error: text } = yield* as(
            ErrorBody,
            yield* asking((client) => client.emailsPost(message("Eve <eve@evil.test>")), 400)
          )
          assert.include(text, "from e-mail address <eve@evil.test> is not allowed")
        })
      )

      it.effect("is refused by every operation with a wrong key, which appears in no response and no output", () =>
        Effect.gen(function* () {
          const { served, stranger } = yield* Official
          const calls: ReadonlyArray<Promise<Answer>> = [
            stranger.contactsByEmailDelete("a@example.com"),
            stranger.contactsByEmailGet("a@example.com"),
            stranger.contactsByEmailPut("a@example.com", {}),
            stranger.contactsDeletePost({ Rule: "All" }),
            stranger.contactsExportByIdStatusGet("00000000-0000-4000-8000-000000000000"),
            stranger.contactsExportPost({}),
            stranger.contactsGet(),
            stranger.contactsImportPost({ file: ["c.csv", "Email\n"] }),
            stranger.contactsPost([]),
            stranger.securityApikeysByNameDelete("k"),
            stranger.securityApikeysByNameGet("k"),
            stranger.securityApikeysByNamePut("k", { Name: "k", AccessLevel: [] }),
            stranger.securityApikeysGet(),
            stranger.securityApikeysPost({ Name: "k", AccessLevel: [] }),
            stranger.securitySmtpByNameDelete("k@example.com"),
            stranger.securitySmtpByNameGet("k@example.com"),
            stranger.securitySmtpByNamePut("k@example.com", { Name: "k@example.com" }),
            stranger.securitySmtpGet(),
            stranger.securitySmtpPost({ Name: "k@example.com" }),
            stranger.listsByNameContactsPost("l", { Rule: "All" }),
            stranger.listsByNameContactsRemovePost("l", { Rule: "All" }),
            stranger.listsByNameDelete("l"),
            stranger.listsByNameGet("l"),
            stranger.listsByNamePut("l", {}),
            stranger.listsGet(),
            stranger.listsPost({ ListName: "l" }),
            ...(stranger.listsByListnameContactsGet === undefined ? [] : [stranger.listsByListnameContactsGet("l")]),
            stranger.emailsPost({ Recipients: [{ Email: "a@example.com" }], Content: { From: "a@example.com" } })
          ]
          const answers = yield* Effect.promise(() => Promise.all(calls))
          assert.deepStrictEqual(
            answers.map((answer) => answer.status),
            calls.map(() => 401)
          )
          for (const answer of answers) {
            yield* as(ErrorBody, answer)
            assert.notInclude(JSON.stringify(answer.data), strangerKey)
          }
          assert.notInclude(served.output(), strangerKey)
          assert.notInclude(served.output(), Redacted.value(served.apiKey))
        })
      )

      it.effect("was driven through exactly the 28 operations, or all that it has", () =>
        Effect.map(Official, ({ stranger }) => {
          const has = new Set(Object.entries(stranger).flatMap(([id, call]) => (call === undefined ? [] : [id])))
          assert.deepStrictEqual(
            [...driven].filter((id) => has.has(id)).sort(),
            ofInterface.filter((id) => has.has(id))
          )
          assert.deepStrictEqual(
            ofInterface.filter((id) => !has.has(id)),
            name.endsWith("ts-axios") ? ["listsByListnameContactsGet"] : []
          )
        })
      )
    })
  }
}
