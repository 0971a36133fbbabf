/** The programs of the pages, each with a key of each purpose: it does its work, or says which level the key lacks. */
import { assert, it } from "@effect/vitest"
import {
  accessFor,
  type AccessLevel,
  ContactsService,
  CredentialsService,
  type EmailsService,
  purposes
} from "@roster/domain"
import { FetchTransport, RosterClient } from "@roster/http-client"
import { RosterServer } from "@roster/server"
import { rotateApiKey, RunLog } from "@roster/workflows"
import { Context, DateTime, Effect, Layer, Predicate, Redacted, Stream, Struct } from "effect"
import { imported, sync } from "../src/bulk/Sync.ts"
import { keysToLookAt, makeReportingKey } from "../src/credentials/Credentials.ts"
import { nightly } from "../src/programs/NightlyPlan.ts"
import { unsubscribe } from "../src/programs/Unsubscribe.ts"
import { confirm, Links, signUp } from "../src/signup/SignUp.ts"

const email = "ada@example.com"
const form = { id: "1", email, firstName: "Ada", ip: "192.0.2.1", at: DateTime.makeUnsafe("2026-01-02T03:04:05Z") }
const links = Layer.succeed(Links, { make: () => Effect.succeed("link"), read: () => Effect.succeed(form) })
const file = Stream.make(new TextEncoder().encode(`email,city\n${email},Rome\n`))
const customers = Stream.make({ id: 1, mail: email, name: "Ada" })

type Program = Effect.Effect<
  unknown,
  { readonly _tag: string },
  ContactsService | CredentialsService | EmailsService | RunLog | Links
>

const programs = {
  signUp: signUp(form),
  confirm: confirm("link"),
  unsubscribe: unsubscribe(email),
  nightly: nightly(file, 10),
  sync: sync(customers),
  imported: imported(customers),
  rotation: rotateApiKey("rotated", { deliver: () => Effect.void, grace: "0 seconds" }),
  makeReportingKey: makeReportingKey(() => Effect.void),
  keysToLookAt
}

/** What a program says that the key lacks. */
const lackOf = (error: { readonly _tag: string }): string => {
  const reason = Predicate.hasProperty(error, "reason") ? error.reason : undefined
  if (Predicate.hasProperty(reason, "required")) return String(reason.required)
  return error._tag === "NotChangeable" && "mayNotView" in error ? "ViewContacts" : String(error)
}

/** The levels that each program needs, in the order in which it comes to them. */
const needed: Readonly<Record<keyof typeof programs, ReadonlyArray<AccessLevel>>> = {
  signUp: ["ModifyContacts", "SendHttp"],
  confirm: ["ModifyContacts"],
  unsubscribe: ["ModifyContacts", "ViewContacts"],
  nightly: ["ViewContacts", "ModifyContacts"],
  sync: ["ModifyContacts"],
  imported: ["ModifyContacts"],
  rotation: ["Security", "ModifyAccessTokens"],
  makeReportingKey: ["ModifyAccessTokens", "ViewContacts"],
  keysToLookAt: ["Security"]
}

const served = Effect.gen(function* () {
  let apiKey = Redacted.make("")
  const context = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      store: { filename: ":memory:", allowedSenders: ["*@example.com"] },
      onAdministratorKey: (key) => Effect.sync(() => (apiKey = key))
    })
  )
  const { address } = Context.get(context, RosterServer.RosterServer)
  const client = (apiKey: Redacted.Redacted<string>) =>
    RunLog.layer.pipe(
      Layer.provideMerge(RosterClient.layer({ baseUrl: address, apiKey })),
      Layer.provide(FetchTransport.layer()),
      Layer.merge(links),
      Layer.fresh
    )
  return { client, administrator: client(apiKey) }
})

it.live(
  "does its work or names a level that the key lacks, with a key of each purpose",
  () =>
    Effect.gen(function* () {
      const { administrator, client } = yield* served
      const asAdministrator = yield* Layer.build(administrator)
      const { apiKeys } = Context.get(asAdministrator, CredentialsService)
      yield* Context.get(asAdministrator, ContactsService).add([{ email, status: "Active" }])
      yield* apiKeys.create({ name: "rotated", for: ["contacts:read"] })
      for (const purpose of purposes) {
        const [level] = accessFor([purpose])
        const { token } = yield* apiKeys.create({ name: purpose, for: [purpose] })
        const services = yield* Layer.build(client(token))
        for (const name of Struct.keys(programs)) {
          const program: Program = programs[name]
          const outcome = yield* Effect.match(program, { onSuccess: () => "done", onFailure: lackOf }).pipe(
            Effect.provideContext(services)
          )
          const lacking = needed[name].find((one) => one !== level)
          assert.strictEqual(outcome, lacking ?? "done", `${name} with a key for ${purpose}`)
        }
        yield* apiKeys.delete(purpose)
      }
    }).pipe(Effect.scoped),
  60_000
)
