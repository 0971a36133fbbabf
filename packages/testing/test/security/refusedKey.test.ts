import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { operations } from "@roster/api"
import {
  AccountService,
  ContactFilter,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  EmailMessage,
  EmailsService,
  ExportId,
  ImportSource,
  ListsService,
  RunsService,
  type ServiceError
} from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Cause, Context, Effect, Exit, Layer, Redacted, Stream } from "effect"
import { inspect } from "node:util"
import { serveProcess, type ServeProcess } from "../../src/index.ts"
import { longRule } from "../faults/EveryOperation.ts"
import { refused } from "../../src/conformance/cases/Refused.ts"

class Served extends Context.Service<Served, ServeProcess>()("@roster/testing/test/Served") {
  static readonly layer = Layer.effect(Served, serveProcess()).pipe(Layer.provide(NodeServices.layer))
}

const wrongKey = "wrong-key-canary-51aa"

/** All operations through the client, by their identifiers. */
const everything = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const { apiKeys, smtp } = yield* CredentialsService
  const emails = yield* EmailsService
  const runs = yield* RunsService
  const lists = yield* ListsService
  const account = yield* AccountService
  const email = EmailAddress.make("a@example.com")
  const name = CredentialName.make("k")
  const content = Stream.make(new TextEncoder().encode("Email\n"))
  const message = EmailMessage.make({ recipients: [{ email }], content: { from: email } })
  const calls: Readonly<
    Record<string, Effect.Effect<unknown, { readonly _tag: string; readonly message: string } | ServiceError>>
  > = {
    contactsByEmailDelete: contacts.delete(email),
    contactsByEmailGet: contacts.get(email),
    contactsByEmailHistoryGet: contacts.history(email),
    contactsByEmailPut: contacts.update(email, {}),
    contactsChangesPost: contacts.change([]),
    contactsCountGet: contacts.count(),
    contactsFieldsGet: contacts.fields(),
    contactsLookupPost: contacts.getMany([email]),
    contactsSearchPost: contacts.list({ rule: longRule }),
    contactsDeletePost: contacts.deleteMany(ContactFilter.ByEmails({ emails: [email] })),
    contactsExportByIdStatusGet: contacts.exportStatus(ExportId.make("00000000-0000-4000-8000-000000000000")),
    contactsExportPost: contacts.export(),
    contactsGet: contacts.list(),
    contactsImportPost: contacts.import(ImportSource.File({ name: "c.csv", content })),
    contactsPost: contacts.add([]),
    securityApikeysByNameDelete: apiKeys.delete(name),
    securityApikeysByNameGet: apiKeys.get(name),
    securityApikeysByNamePut: apiKeys.update(name, { name, accessLevels: [] }),
    securityApikeysGet: apiKeys.list(),
    securityApikeysPost: apiKeys.create({ name, accessLevels: [] }),
    securitySmtpByNameDelete: smtp.delete(email),
    securitySmtpByNameGet: smtp.get(email),
    securitySmtpByNamePut: smtp.update(email, { name: email }),
    securitySmtpGet: smtp.list(),
    securitySmtpPost: smtp.create({ name: email }),
    emailsPost: emails.send(message),
    listsByListnameContactsGet: lists.contacts(name),
    listsByNameContactsPost: lists.add(name, ContactFilter.ByEmails({ emails: [email] })),
    listsByNameContactsRemovePost: lists.remove(name, ContactFilter.ByEmails({ emails: [email] })),
    listsByNameDelete: lists.delete(name),
    listsByNameGet: lists.get(name),
    listsByNamePut: lists.update(name, {}),
    listsGet: lists.list(),
    listsPost: lists.create({ listName: name }),
    runsByIdChangesGet: runs.changes("none"),
    runsByIdEndPost: runs.end("none"),
    runsByIdErasePost: runs.erase("none", [1]),
    runsByIdGet: runs.get("none"),
    runsByIdStepPost: runs.step("none", "half"),
    runsGet: runs.list(),
    runsPost: runs.begin({ command: "import" }),
    accountAuditGet: account.auditTrail(),
    accountEmailsByIdGet: account.email("none"),
    accountEmailsGet: account.emails(),
    accountJobsByIdCancelPost: account.cancelJob("none"),
    accountJobsByIdGet: account.job("none"),
    accountJobsByIdKeptGet: account.keptStatuses("none"),
    accountJobsByIdRejectedGet: account.rejectedRows("none"),
    accountJobsGet: account.jobs(),
    accountKeyGet: account.key,
    accountKeyUsesGet: account.keyUses(),
    accountRulesByNameDelete: account.removeRule("vip"),
    accountRulesByNamePut: account.saveRule("vip", "All"),
    accountRulesGet: account.rules,
    accountOverviewGet: account.overview
  }
  return calls
})

layer(Served.layer, { excludeTestServices: true, timeout: "60 seconds" })("a key that is refused", (it) => {
  const asking = (apiKey: Redacted.Redacted<string> | undefined) =>
    Effect.gen(function* () {
      const { baseUrl } = yield* Served
      const context = yield* Layer.build(
        RosterClient.layer({ baseUrl, apiKey }).pipe(Layer.provide(UndiciHttpClient.layer()))
      )
      return yield* Effect.provideContext(everything, context)
    })

  it.effect("is Unauthorized in every operation where it is none, and is in no error and no output", () =>
    Effect.gen(function* () {
      const { output } = yield* Served
      for (const key of [Redacted.make(wrongKey), undefined]) {
        const calls = yield* asking(key)
        assert.deepStrictEqual(Object.keys(calls).sort(), [...operations.keys()].sort())
        // Side by side, since each wrong key alone is answered later than the one before.
        const exits = yield* Effect.forEach(
          Object.entries(calls),
          ([operation, call]) => Effect.map(Effect.exit(call), (exit) => [operation, exit] as const),
          { concurrency: "unbounded" }
        )
        for (const [operation, exit] of exits) {
          const error = yield* refused(Effect.asVoid(exit), "ServiceError")
          assert.deepInclude(error, { operation })
          assert.strictEqual("reason" in error ? error.reason._tag : undefined, "Unauthorized")
          const shown = [inspect(exit, { depth: Infinity }), JSON.stringify(exit), String(error), error.message]
          if (Exit.isFailure(exit)) shown.push(Cause.pretty(exit.cause), JSON.stringify(exit.cause))
          for (const text of shown) assert.notInclude(text, wrongKey)
        }
      }
      assert.notInclude(output(), wrongKey)
    })
  )

  it.effect("is AccessDenied where it lacks the level, and says which", () =>
    Effect.gen(function* () {
      const { apiKey } = yield* Served
      const { baseUrl } = yield* Served
      const owner = yield* Layer.build(
        RosterClient.layer({ baseUrl, apiKey }).pipe(Layer.provide(UndiciHttpClient.layer()))
      )
      const { apiKeys } = Context.get(owner, CredentialsService)
      const { token } = yield* apiKeys.create({ name: CredentialName.make("none"), accessLevels: ["ViewBilling"] })
      for (const [operation, call] of Object.entries(yield* asking(token))) {
        // Every valid key learns of itself.
        if (operations.get(operation)?.requiredAccess === "None") continue
        const error = yield* refused(Effect.asVoid(call), "ServiceError")
        assert.strictEqual("reason" in error ? error.reason._tag : undefined, "AccessDenied", operation)
        const required = "reason" in error && error.reason._tag === "AccessDenied" ? error.reason.required : undefined
        assert.strictEqual(required, operations.get(operation)?.requiredAccess)
      }
    })
  )
})
