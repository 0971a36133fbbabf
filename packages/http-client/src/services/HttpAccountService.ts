/** What an account has besides its contacts and credentials over HTTP, at a service that says that it knows the operations. */
import { accountHonoured, type OperationId } from "@roster/api"
import {
  AcceptedEmail,
  AccountService,
  AuditEntry,
  CallingKey,
  checkAuditPage,
  checkRuleName,
  checkRunPage,
  checkRunsPage,
  checkRule,
  EmailNotFound,
  EmailSummary,
  isAccountId,
  Job,
  JobNotFound,
  KeptStatusRow,
  KeyUse,
  RejectedRows,
  Rejected,
  SavedRule,
  SavedRuleNotFound,
  ServiceError,
  checkedMethods
} from "@roster/domain"
import { Effect, Layer, Predicate, Schema } from "effect"
import { makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { makeExtensionCall } from "../calls/ExtensionCall.ts"
import { readJson, readNothing } from "../calls/ResponseDecoding.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"

const readKey = readJson(CallingKey)
const readEntries = readJson(Schema.Array(AuditEntry))
const readUses = readJson(Schema.Array(KeyUse))
const readJobs = readJson(Schema.Array(Job))
const readJob = readJson(Job)
const readRejected = readJson(RejectedRows)
const readKept = readJson(Schema.Array(KeptStatusRow))
const readEmails = readJson(Schema.Array(EmailSummary))
const readEmail = readJson(AcceptedEmail)
const readRules = readJson(Schema.Array(SavedRule))
const readDone = (...answer: Parameters<typeof readNothing>) => Effect.as(readNothing(...answer), "Done" as const)

/** Fails for a service that does not know the operations. */
const required =
  (operation: OperationId) =>
  <A, E>(call: Effect.Effect<A | undefined, E>) =>
    Effect.filterOrFail(
      call,
      Predicate.isNotUndefined,
      () =>
        new ServiceError({ operation, reason: new Rejected({ status: 404, detail: "this service does not tell it" }) })
    )

/** No service has a record whose id is none, and it might lead elsewhere. */
const checkId = <E>(id: string, absent: (id: string) => E): Effect.Effect<void, E> =>
  isAccountId(id) ? Effect.void : Effect.fail(absent(id))

const noJob = (id: string) => new JobNotFound({ id })
const noEmail = (id: string) => new EmailNotFound({ id })

/** Makes the service on a shared client. */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, fn, isAccountHonoured } = shared
  const call = makeExtensionCall(makeCall(shared), accountHonoured, isAccountHonoured)

  return checkedMethods(AccountService, {
    key: fn("AccountService.key")(function* () {
      return yield* call({ ...api.accountKeyGet({}), read: readKey, refusals: [] }).pipe(required("accountKeyGet"))
    })(),
    auditTrail: fn("AccountService.auditTrail")(function* (page = {}) {
      yield* checkAuditPage(page)
      const { before: beforeEntry, key, limit, since, subaccount } = page
      return yield* call({
        ...api.accountAuditGet({ query: { beforeEntry, key, limit, since, subaccount } }),
        read: readEntries,
        refusals: ["InvalidInput"]
      }).pipe(required("accountAuditGet"))
    }),
    keyUses: fn("AccountService.keyUses")(function* ({ subaccount } = {}) {
      return yield* call({
        ...api.accountKeyUsesGet({ query: { subaccount } }),
        read: readUses,
        refusals: ["InvalidInput"]
      }).pipe(required("accountKeyUsesGet"))
    }),
    jobs: fn("AccountService.jobs")(function* ({ before, limit } = {}) {
      yield* checkRunsPage({ limit })
      if (before !== undefined) yield* checkId(before, noJob)
      return yield* call({
        ...api.accountJobsGet({ query: { beforeJob: before, limit } }),
        read: readJobs,
        refusals: ["JobNotFound", "InvalidInput"]
      }).pipe(required("accountJobsGet"))
    }),
    job: fn("AccountService.job")(function* (id) {
      yield* checkId(id, noJob)
      return yield* call({
        ...api.accountJobsByIdGet({ params: { id } }),
        read: readJob,
        refusals: ["JobNotFound"],
        byStatus: { 404: () => noJob(id) }
      }).pipe(required("accountJobsByIdGet"))
    }),
    cancelJob: fn("AccountService.cancelJob")(function* (id) {
      yield* checkId(id, noJob)
      yield* call({
        ...api.accountJobsByIdCancelPost({ params: { id } }),
        read: readDone,
        refusals: ["JobNotFound", "JobEnded"],
        byStatus: { 404: () => noJob(id) }
      }).pipe(required("accountJobsByIdCancelPost"))
    }),
    rejectedRows: fn("AccountService.rejectedRows")(function* (id, { after, limit } = {}) {
      yield* checkId(id, noJob)
      yield* checkRunPage({ after, limit })
      return yield* call({
        ...api.accountJobsByIdRejectedGet({ params: { id }, query: { afterLine: after, limit } }),
        read: readRejected,
        refusals: ["JobNotFound", "InvalidInput"],
        byStatus: { 404: () => noJob(id) }
      }).pipe(required("accountJobsByIdRejectedGet"))
    }),
    keptStatuses: fn("AccountService.keptStatuses")(function* (id) {
      yield* checkId(id, noJob)
      return yield* call({
        ...api.accountJobsByIdKeptGet({ params: { id } }),
        read: readKept,
        refusals: ["JobNotFound"],
        byStatus: { 404: () => noJob(id) }
      }).pipe(required("accountJobsByIdKeptGet"))
    }),
    emails: fn("AccountService.emails")(function* ({ before, limit } = {}) {
      yield* checkRunsPage({ limit })
      if (before !== undefined) yield* checkId(before, noEmail)
      return yield* call({
        ...api.accountEmailsGet({ query: { beforeEmail: before, limit } }),
        read: readEmails,
        refusals: ["EmailNotFound", "InvalidInput"]
      }).pipe(required("accountEmailsGet"))
    }),
    email: fn("AccountService.email")(function* (id) {
      yield* checkId(id, noEmail)
      return yield* call({
        ...api.accountEmailsByIdGet({ params: { id } }),
        read: readEmail,
        refusals: ["EmailNotFound"],
        byStatus: { 404: () => noEmail(id) }
      }).pipe(required("accountEmailsByIdGet"))
    }),
    rules: fn("AccountService.rules")(function* () {
      return yield* call({ ...api.accountRulesGet({}), read: readRules, refusals: [] }).pipe(
        required("accountRulesGet")
      )
    })(),
    saveRule: fn("AccountService.saveRule")(function* (given, rule) {
      const name = yield* checkRuleName(given)
      const text = yield* Effect.fromResult(checkRule(rule))
      yield* call({
        ...api.accountRulesByNamePut({ params: { name }, payload: { rule: text } }),
        read: readDone,
        refusals: ["InvalidRule", "InvalidInput"]
      }).pipe(required("accountRulesByNamePut"))
    }),
    removeRule: fn("AccountService.removeRule")(function* (given) {
      const name = yield* checkRuleName(given)
      yield* call({
        ...api.accountRulesByNameDelete({ params: { name } }),
        read: readDone,
        refusals: ["SavedRuleNotFound", "InvalidInput"],
        byStatus: { 404: () => new SavedRuleNotFound({ name }) }
      }).pipe(required("accountRulesByNameDelete"))
    })
  })
})

/** The service on a new client. */
export const layer = (options: ClientOptions) =>
  Layer.effect(AccountService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
