/**
 * Nothing that can be watched says whom a call was about: every declared error is fired on every layer, by a call that is
 * full of canaries, and whatever a tracer, a logger and the metrics got is searched for them.
 */
import {
  AccountService,
  ContactFilter,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  EmailMessage,
  EmailsService,
  ExportExpired,
  ExportId,
  ImportSource,
  LastManagingKey,
  maximumCredentials,
  readContacts,
  Rejected,
  RuleText,
  RunsService,
  ServiceError
} from "@roster/domain"
import { fnRedacted, rawRule } from "@roster/domain/internal"
import {
  awaitExport,
  createWithRetry,
  exportTo,
  planDelete,
  probeAccess,
  rotateApiKey,
  rotateSmtp,
  RunLog,
  importContacts
} from "@roster/workflows"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Effect,
  type FileSystem,
  Layer,
  Logger,
  Metric,
  Option,
  type Path,
  PlatformError,
  References,
  Result,
  Stream
} from "effect"
import { inspect } from "node:util"
import { layerEmbedded, layerFile, layerMemory, layerServed } from "../../src/index.ts"
import { recordSpans } from "../faults/SpanRecorder.ts"
import { type Services } from "../faults/EveryOperation.ts"

const canaries = {
  email: "canary.person@example.com",
  sender: "canary.sender@elsewhere.test",
  name: "canary-credential",
  rule: "canary-rule",
  body: "canary-body"
} as const

const email = EmailAddress.make(canaries.email)
const apiKey = { name: CredentialName.make(canaries.name), accessLevels: ["ModifyAccessTokens", "Security"] } as const
const smtp = { name: email }
const both = { rule: "All" as const, emails: [canaries.email] }
const brokenRule = Result.getOrThrow(rawRule(`firstname = '${canaries.rule}' and and`))
const goodRule = RuleText.make(`firstname = '${canaries.rule}'`)
const text = new TextEncoder()
const file = (content: string) => ImportSource.File({ name: "c.csv", content: Stream.make(text.encode(content)) })

const goneFile = PlatformError.systemError({
  _tag: "NotFound",
  module: "FileSystem",
  method: "readFile",
  pathOrDescriptor: `/home/${canaries.name}`,
  cause: new Error(`no such file /home/${canaries.name}`)
})

type Method<S> =
  S extends Effect.Effect<unknown, infer E>
    ? E
    : S extends (...args: ReadonlyArray<never>) => infer Returned
      ? Returned extends Effect.Effect<unknown, infer E, unknown>
        ? E
        : Returned extends Stream.Stream<unknown, infer E, unknown>
          ? E
          : never
      : S extends object
        ? { readonly [Name in keyof S]: Method<S[Name]> }[keyof S]
        : never

/** All that the services declare: a tag that is missing here does not compile. */
const declared: Record<NonNullable<Method<Services["Service"]>>["_tag"], true> = {
  ConflictingFilter: true,
  ContactNotFound: true,
  CredentialNotFound: true,
  EmailNotFound: true,
  ExportExpired: true,
  ExportNotFound: true,
  IdempotencyKeyInUse: true,
  IdempotencyKeyReused: true,
  ImportRefused: true,
  InvalidInput: true,
  InvalidRule: true,
  JobEnded: true,
  JobNotFound: true,
  LastManagingKey: true,
  ListNotFound: true,
  NameTaken: true,
  NotAllowedSender: true,
  PlatformError: true,
  RunNotFound: true,
  RunTaken: true,
  SavedRuleNotFound: true,
  ServiceError: true,
  TooManyContacts: true,
  TooManyCredentials: true
}

/** What needs a day to pass, a key, or a service that is broken: what matters is the end of a span of ours. */
const raised = (error: ServiceError | ExportExpired | LastManagingKey) =>
  fnRedacted("raised")(function* () {
    return yield* error
  })()

const contacts = Effect.gen(function* () {
  const service = yield* ContactsService
  const tooMany = Array.from({ length: 1001 }, () => ({ email }))
  const message = (from: string, to: string) =>
    EmailMessage.make(
      { recipients: [{ email: to }], content: { from, subject: canaries.body } },
      { disableChecks: true }
    )
  const emails = yield* EmailsService
  return [
    service.get(email),
    service.get(`${email}\n`),
    service.update(email, { firstName: canaries.body }),
    service.delete(email),
    service.add(tooMany),
    service.add([{ email }], { listNames: [`${canaries.name}\n`] }),
    service.list({ rule: brokenRule }),
    Stream.runDrain(service.stream({ rule: brokenRule })),
    service.deleteMany(ContactFilter.ByRule({ rule: brokenRule })),
    service.deleteMany(ContactFilter.ByRule(both)),
    service.export({ filter: ContactFilter.ByRule({ rule: brokenRule }) }),
    exportTo({ filter: ContactFilter.ByRule({ rule: brokenRule }) }, `/tmp/${canaries.name}`),
    service.exportStatus(ExportId.make("00000000-0000-4000-8000-000000000000")),
    awaitExport(ExportId.make("00000000-0000-4000-8000-000000000000")),
    Stream.runDrain(service.download(`not a link of ${email}`)),
    service.import(file(`Email\n${email}\n`), { listName: canaries.name }),
    service.import(ImportSource.File({ name: canaries.name, content: Stream.fail(goneFile) })),
    service.import(ImportSource.Address({ url: `http://127.0.0.1/${email}` })),
    emails.send(message(canaries.sender, email)),
    emails.send(message("john@example.com", `${email} and more`)),
    // And what succeeds: a span has seen it, too.
    service.add([{ email, firstName: canaries.body, customFields: { [canaries.name]: canaries.body } }], {
      listNames: [canaries.name]
    }),
    service.get(email),
    service.update(email, { lastName: canaries.body }),
    service.list({ rule: goodRule }),
    Stream.runDrain(service.stream()),
    emails.send(message("john@example.com", email)),
    service.import(file(`Email,FirstName\n${email},${canaries.body}\n`)),
    Effect.provide(
      importContacts(
        readContacts(Stream.make(text.encode(`Email,FirstName\n${email},${canaries.body}\n${canaries.body},x\n`))),
        { record: false }
      ),
      RunLog.layerMemory()
    ),
    Effect.provide(
      Effect.flatMap(planDelete(service.stream()), ({ apply }) => apply),
      RunLog.layerMemory()
    ),
    probeAccess()
  ]
})

const credentials = Effect.gen(function* () {
  const { apiKeys, smtp: logins } = yield* CredentialsService
  const deliver = () => Effect.void
  const keyed = { ...apiKey, name: CredentialName.make(`${canaries.name} of a call`) }
  const keyOfCall = { idempotencyKey: "of-a-call" }
  const many = Array.from({ length: maximumCredentials }, (_, index) =>
    apiKeys.create({ ...apiKey, name: CredentialName.make(`${canaries.name} ${index}`) })
  )
  return [
    apiKeys.get(canaries.name),
    apiKeys.update(canaries.name, apiKey),
    apiKeys.delete(canaries.name),
    logins.get(email),
    logins.update(email, smtp),
    logins.delete(email),
    apiKeys.get(canaries.name, { subaccount: email }),
    apiKeys.get(`${canaries.name}\n`),
    rotateApiKey(canaries.name, { deliver }),
    rotateSmtp(email, { deliver }),
    apiKeys.create(apiKey),
    apiKeys.create(apiKey),
    createWithRetry(apiKeys, apiKey),
    logins.create(smtp),
    logins.create(smtp),
    logins.list(),
    apiKeys.list(),
    apiKeys.get(canaries.name),
    apiKeys.create(keyed, keyOfCall),
    apiKeys.create(keyed, keyOfCall),
    apiKeys.create(apiKey, keyOfCall),
    apiKeys.delete(keyed.name),
    ...many,
    ...many.map((_, index) => apiKeys.delete(`${canaries.name} ${index}`)),
    apiKeys.delete(canaries.name),
    raised(new LastManagingKey({ name: canaries.name })),
    raised(new ExportExpired({ id: canaries.email })),
    raised(new ServiceError({ operation: "contactsGet", reason: new Rejected({ status: 400, detail: canaries.body }) }))
  ]
})

const runs = Effect.map(RunsService, (service) => {
  const run = { command: "import", about: canaries.name, input: canaries.body }
  return [
    service.begin(run),
    service.begin(run),
    service.get(canaries.name),
    service.changes("none"),
    service.step("none", canaries.body),
    service.begin({ command: "import", about: canaries.body.repeat(100) })
  ]
})

const account = Effect.map(AccountService, (service) => [
  service.job(canaries.name),
  Effect.flatMap(service.jobs(), ([job]) => service.cancelJob(job?.id ?? "none")),
  Effect.flatMap(service.jobs(), ([job]) => service.cancelJob(job?.id ?? "none")),
  service.email(canaries.name),
  service.saveRule("vip", `city = '${canaries.body}'`),
  service.saveRule(canaries.name, "All"),
  service.removeRule("nobody"),
  service.auditTrail({ key: canaries.name })
])

type Call = Effect.Effect<unknown, { readonly _tag: string }, Services | FileSystem.FileSystem | Path.Path>

const everyCall = Effect.gen(function* () {
  const calls: ReadonlyArray<Call> = [
    ...(yield* contacts),
    ...(yield* credentials),
    ...(yield* runs),
    ...(yield* account)
  ]
  const ends = yield* Effect.forEach(calls, (call) => Effect.flip(Effect.asVoid(call)).pipe(Effect.option))
  return new Set(ends.flatMap((end) => (Option.isSome(end) ? [end.value._tag] : [])))
})

const shown = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity }

describe.each([
  ["memory", layerMemory],
  ["a file", layerFile],
  ["HTTP in one process", layerEmbedded],
  ["HTTP over a socket", layerServed]
] as const)("the services: %s", (_, services) => {
  it.live("hold no personal data in spans, logs and metrics", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make(({ cause, message }) => {
        logged.push(inspect(message, shown), inspect(cause, shown), Cause.pretty(cause))
      })
      const { exit, exported, printed } = yield* recordSpans(
        Effect.provide(everyCall, Layer.merge(services, NodeServices.layer), { local: true }).pipe(
          Effect.provide(Logger.layer([logger, Logger.tracerLogger]), { local: true }),
          Effect.provideService(References.MinimumLogLevel, "All")
        )
      )
      const fired = yield* exit
      for (const tag of Object.keys(declared)) {
        assert.isTrue(fired.has(tag), `${tag} was not fired`)
        assert.include(exported.join(), tag)
      }
      const metrics = inspect(yield* Metric.snapshot, shown)
      for (const canary of Object.values(canaries)) {
        for (const spelling of [canary, encodeURIComponent(canary)]) {
          for (const [what, texts] of Object.entries({ exported, printed, logged, metrics: [metrics] })) {
            const text = texts.find((text) => text.includes(spelling)) ?? ""
            const at = text.indexOf(spelling)
            assert.strictEqual(at, -1, `${what}: ${text.slice(Math.max(0, at - 600), at + 200)}`)
          }
        }
      }
    })
  )
})
