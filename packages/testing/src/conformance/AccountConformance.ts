/** What an account has besides contacts and credentials, on every layer that tells it. */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  type AccountOverview,
  AccountService,
  allJobs,
  auditEntries,
  acceptedEmails,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailMessage,
  EmailsService,
  maximumRuleView,
  rejectedRowsFile
} from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { eventually } from "./cases/Eventually.ts"
import { place } from "./cases/Place.ts"
import { refused } from "./cases/Refused.ts"
import { file, utf8 } from "./jobs/Importing.ts"

/** Imports a file of this name, and gives its job once it has ended. */
const importedJob = Effect.fnUntraced(function* (name: string, text: string) {
  yield* (yield* ContactsService).import(file(utf8(text), name))
  const found = Effect.map(Stream.runCollect(allJobs()), (jobs) =>
    jobs.find(({ request }) => request.fileName === name)
  )
  const job = yield* eventually(found, (job) => job !== undefined && job.ended !== null)
  return job ?? assert.fail("there is no job")
})

export const accountConformance = (
  it: Cases<AccountService | ContactsService | CredentialsService | EmailsService>
): void => {
  it.describe("account: the key that calls", () => {
    it.effect("is told its levels, its account and its end", () =>
      Effect.gen(function* () {
        const key = yield* (yield* AccountService).key
        for (const level of ["ViewContacts", "ModifyContacts", "Security"]) {
          assert.isTrue(
            key.accessLevels.some((has) => has === level),
            level
          )
        }
        assert.strictEqual(key.account, "")
      })
    )
  })

  it.describe("account: the audit trail", () => {
    it.effect("has each change of a credential, the newest first, page by page", () =>
      Effect.gen(function* () {
        const { apiKeys } = yield* CredentialsService
        const name = CredentialName.make(`audited ${place().domain}`)
        yield* apiKeys.create({ name, accessLevels: ["ViewContacts"] })
        yield* apiKeys.update(name, { accessLevels: ["Export"] })
        yield* apiKeys.delete(name)
        const account = yield* AccountService
        const of = (entries: ReadonlyArray<{ readonly subject: string | null; readonly operation: string }>) =>
          entries.filter(({ subject }) => subject === name).map(({ operation }) => operation)
        const operations = ["securityApikeysByNameDelete", "securityApikeysByNamePut", "securityApikeysPost"]
        assert.deepStrictEqual(of(yield* Stream.runCollect(auditEntries())), operations)
        const [first] = yield* account.auditTrail({ limit: 1 })
        const older = yield* account.auditTrail({ limit: 1, before: first?.number })
        assert.isBelow(older[0]?.number ?? 0, first?.number ?? 0)
      })
    )

    it.effect("has no entries of a key that never was, and none of another subaccount", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        const { domain } = place()
        assert.deepStrictEqual(yield* account.auditTrail({ key: `nobody at ${domain}` }), [])
        assert.deepStrictEqual(yield* account.auditTrail({ subaccount: `nobody@${domain}` }), [])
      })
    )

    it.effect.each([{ limit: 1001 }, { limit: -1 }, { before: -1 }, { subaccount: "nobody" }])(
      "refuses a page such as %j",
      (page) =>
        refused(
          AccountService.use((account) => account.auditTrail(page)),
          "InvalidInput"
        )
    )

    it.effect("tells of each key what it was used for", () =>
      Effect.gen(function* () {
        const { apiKeys } = yield* CredentialsService
        const name = CredentialName.make(`unused ${place().domain}`)
        yield* apiKeys.create({ name, accessLevels: ["ViewContacts"] })
        const uses = yield* (yield* AccountService).keyUses()
        assert.deepStrictEqual(
          uses.find((use) => use.name === name),
          { name, levels: [] }
        )
        yield* apiKeys.delete(name)
      })
    )
  })

  it.describe("account: jobs", () => {
    it.effect("are listed with what they did, and give the rows that they rejected", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        const { email, domain } = place()
        const name = `${domain}.csv`
        const job = yield* importedJob(name, `Email,FirstName\n${email("ada")},Ada\nno address,=Bob\n`)
        assert.deepInclude(job, { kind: "Import", state: "Ready", running: false, accepted: 1, rejected: 1 })
        assert.deepStrictEqual(yield* account.job(job.id), job)
        const { header, rows } = yield* account.rejectedRows(job.id)
        assert.deepStrictEqual(header?.cells, ["Email", "FirstName"])
        assert.deepStrictEqual(
          rows.map(({ cells, line }) => [line, cells]),
          [[3, ["no address", "=Bob"]]]
        )
        assert.deepStrictEqual((yield* account.rejectedRows(job.id, { after: 3 })).rows, [])
        const parts = yield* Stream.runCollect(Stream.decodeText(rejectedRowsFile(job.id)))
        assert.include(parts.join(""), "no address,'=Bob,")
        assert.deepStrictEqual(yield* account.keptStatuses(job.id), [])
        assert.deepStrictEqual(
          (yield* account.jobs({ before: job.id })).filter(({ id }) => id === job.id),
          []
        )
      })
    )

    it.effect("tell the rows whose contacts kept their status", () =>
      Effect.gen(function* () {
        const { email, domain } = place()
        yield* (yield* ContactsService).add([{ email: email("ada"), status: "Unsubscribed" }])
        const job = yield* importedJob(`${domain}.csv`, `Email,Status\n${email("ada")},Active\n`)
        assert.deepStrictEqual(yield* (yield* AccountService).keptStatuses(job.id), [
          { line: 2, status: "Unsubscribed" }
        ])
      })
    )

    it.effect("that have ended cannot be cancelled", () =>
      Effect.gen(function* () {
        const { email, domain } = place()
        const job = yield* importedJob(`${domain}.csv`, `Email\n${email("ada")}\n`)
        yield* refused(
          AccountService.use((account) => account.cancelJob(job.id)),
          "JobEnded"
        )
      })
    )

    it.effect.each(["none", "..", "a/b"])("of the id %s are not there", (id) =>
      Effect.gen(function* () {
        const account = yield* AccountService
        yield* refused(account.job(id), "JobNotFound")
        yield* refused(account.cancelJob(id), "JobNotFound")
        yield* refused(account.rejectedRows(id), "JobNotFound")
        yield* refused(account.keptStatuses(id), "JobNotFound")
        yield* refused(account.jobs({ before: id }), "JobNotFound")
      })
    )
  })

  it.describe("account: the overview", () => {
    it.effect("has the contacts by status, month and list, and is the same for a minute", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        const contacts = yield* ContactsService
        const { domain, email } = place()
        yield* contacts.add([{ email: email("a"), status: "Stale" }, { email: email("b") }], { listNames: [domain] })
        const isListed = ({ summary }: AccountOverview) =>
          summary?.lists.some(({ listName }) => listName === domain) === true
        const overview = yield* eventually(account.overview, isListed)
        const { contacts: all, counted, lists, months, statuses } = overview.summary ?? assert.fail("it has no numbers")
        assert.deepStrictEqual(
          lists.find(({ listName }) => listName === domain),
          { listName: domain, contacts: 2 }
        )
        const sum = (counts: ReadonlyArray<{ readonly contacts: number }>) =>
          counts.reduce((sum, { contacts }) => sum + contacts, 0)
        assert.deepStrictEqual([sum(statuses), sum(months)], [all, all])
        assert.isAtLeast(statuses.find(({ status }) => status === "Stale")?.contacts ?? 0, 1)
        const { dateAdded } = yield* contacts.get(email("b"))
        const month = dateAdded === undefined ? "" : DateTime.formatIso(dateAdded).slice(0, 7)
        assert.isAtLeast(months.find((one) => one.month === month)?.contacts ?? 0, 2)
        assert.isAtLeast(DateTime.toEpochMillis(counted), Math.floor(DateTime.toEpochMillis(dateAdded ?? counted)))
        yield* contacts.add([{ email: email("c") }], { listNames: [domain] })
        assert.deepStrictEqual(yield* account.overview, overview)
      })
    )
  })

  it.describe("account: e-mails", () => {
    it.effect("are listed without texts, and given as they were submitted", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        const to = place().email("ada")
        const message = EmailMessage.make({
          recipients: [{ email: to }],
          content: { from: "john@example.com", subject: "Hello", body: [{ contentType: "PlainText", content: "Hi" }] }
        })
        yield* (yield* EmailsService).send(message)
        const all = yield* Stream.runCollect(acceptedEmails())
        const listed = all.find((email) => email.to.includes(to)) ?? assert.fail("it is not listed")
        assert.deepInclude(listed, { from: "john@example.com", subject: "Hello" })
        assert.notInclude(JSON.stringify(listed), "Hi")
        const email = yield* account.email(listed.messageId)
        assert.deepStrictEqual(email.message.content.body?.[0]?.content, "Hi")
        assert.notInclude(
          (yield* account.emails({ before: listed.messageId })).map(({ messageId }) => messageId),
          listed.messageId
        )
      })
    )

    it.effect.each(["none", "..", "a/b"])("of the id %s are not there", (id) =>
      Effect.gen(function* () {
        const account = yield* AccountService
        yield* refused(account.email(id), "EmailNotFound")
        yield* refused(account.emails({ before: id }), "EmailNotFound")
      })
    )
  })

  it.describe("account: saved rules", () => {
    it.effect("are kept under their names, replaced and removed", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        const name = `of-${place().domain}`.slice(0, 64)
        const saved = Effect.map(account.rules, (rules) => rules.find((rule) => rule.name === name)?.rule)
        yield* account.saveRule(name, "status = Active")
        assert.strictEqual(yield* saved, "status = Active")
        yield* account.saveRule(name, "city = 'Köln'")
        assert.strictEqual(yield* saved, "city = 'Köln'")
        yield* account.removeRule(name)
        assert.strictEqual(yield* saved, undefined)
        yield* refused(account.removeRule(name), "SavedRuleNotFound")
      })
    )

    it.effect("keep how the page shows them, until they are saved without that", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        const name = `view-of-${place().domain}`.slice(0, 64)
        const saved = Effect.map(account.rules, (rules) => rules.find((rule) => rule.name === name))
        const view = `column=Stra%C3%9Fe&column='"&sort=-added`
        yield* account.saveRule(name, "status = Active", { view })
        assert.deepStrictEqual(yield* saved, { name, rule: "status = Active", view })
        yield* account.saveRule(name, "status = Stale")
        assert.deepStrictEqual(yield* saved, { name, rule: "status = Stale" })
        yield* refused(account.saveRule(name, "All", { view: "x".repeat(maximumRuleView + 1) }), "InvalidInput")
        yield* refused(account.saveRule(name, "All", { view: "\0" }), "InvalidInput")
        yield* account.removeRule(name)
      })
    )

    it.effect("are valid rules under names of letters and digits", () =>
      Effect.gen(function* () {
        const account = yield* AccountService
        yield* refused(account.saveRule("vip", "status ="), "InvalidRule")
        yield* refused(account.saveRule("a b", "All"), "InvalidInput")
        yield* refused(account.removeRule("../x"), "InvalidInput")
      })
    )
  })
}
