/** What an account has besides its contacts and credentials over HTTP, at a service that says that it knows the operations. */
import { accountHonoured } from "@roster/api"
import {
  AcceptedEmail,
  AccountOverview,
  AccountService,
  AuditEntry,
  CallingKey,
  checkRule,
  EmailNotFound,
  EmailSummary,
  Job,
  JobNotFound,
  KeptStatusRow,
  KeyUse,
  RejectedRows,
  SavedRule,
  SavedRuleNotFound,
  checkedMethods
} from "@roster/domain"
import {
  checkAuditPage,
  checkRuleName,
  checkRuleView,
  checkRunPage,
  checkRunsPage,
  isRecordId
} from "@roster/domain/internal"
import { Effect, Layer, Schema } from "effect"
import { makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { makeRequiredCall } from "../calls/ExtensionCall.ts"
import { readDone, readJson } from "../calls/ResponseDecoding.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"

const readKey = readJson(CallingKey)
const readEntries = readJson(Schema.Array(AuditEntry))
const readUses = readJson(Schema.Array(KeyUse))
const readJobs = readJson(Schema.Array(Job))
const readJob = readJson(Job)
const readRejected = readJson(RejectedRows)
const readKept = readJson(Schema.Array(KeptStatusRow))
const readOverview = readJson(AccountOverview)
const readEmails = readJson(Schema.Array(EmailSummary))
const readEmail = readJson(AcceptedEmail)
const readRules = readJson(Schema.Array(SavedRule))

/** No service has a record whose id is none, and it might lead elsewhere. */
const checkId = <E>(id: string, absent: (id: string) => E): Effect.Effect<void, E> =>
  isRecordId(id) ? Effect.void : Effect.fail(absent(id))

const noJob = (id: string) => new JobNotFound({ id })
const noEmail = (id: string) => new EmailNotFound({ id })

/**
 * Makes the service on a shared client.
 * @internal
 */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, fn, said } = shared
  const call = makeRequiredCall("this service does not tell it", makeCall(shared), said(accountHonoured))

  return checkedMethods(AccountService, {
    key: fn("AccountService.key")(function* () {
      return yield* call({ ...api.accountKeyGet({}), read: readKey, refusals: [] })
    })(),
    auditTrail: fn("AccountService.auditTrail")(function* (page = {}) {
      yield* checkAuditPage(page)
      const { before: beforeEntry, key, limit, since, subaccount } = page
      return yield* call({
        ...api.accountAuditGet({ query: { beforeEntry, key, limit, since, subaccount } }),
        read: readEntries,
        refusals: ["InvalidInput"]
      })
    }),
    keyUses: fn("AccountService.keyUses")(function* ({ subaccount } = {}) {
      return yield* call({
        ...api.accountKeyUsesGet({ query: { subaccount } }),
        read: readUses,
        refusals: ["InvalidInput"]
      })
    }),
    jobs: fn("AccountService.jobs")(function* ({ before, limit } = {}) {
      yield* checkRunsPage({ limit })
      if (before !== undefined) yield* checkId(before, noJob)
      return yield* call({
        ...api.accountJobsGet({ query: { beforeJob: before, limit } }),
        read: readJobs,
        refusals: ["JobNotFound", "InvalidInput"]
      })
    }),
    job: fn("AccountService.job")(function* (id) {
      yield* checkId(id, noJob)
      return yield* call({
        ...api.accountJobsByIdGet({ params: { id } }),
        read: readJob,
        refusals: ["JobNotFound"],
        byStatus: { 404: () => noJob(id) }
      })
    }),
    cancelJob: fn("AccountService.cancelJob")(function* (id) {
      yield* checkId(id, noJob)
      yield* call({
        ...api.accountJobsByIdCancelPost({ params: { id } }),
        read: readDone,
        refusals: ["JobNotFound", "JobEnded"],
        byStatus: { 404: () => noJob(id) }
      })
    }),
    rejectedRows: fn("AccountService.rejectedRows")(function* (id, { after, limit } = {}) {
      yield* checkId(id, noJob)
      yield* checkRunPage({ after, limit })
      return yield* call({
        ...api.accountJobsByIdRejectedGet({ params: { id }, query: { afterLine: after, limit } }),
        read: readRejected,
        refusals: ["JobNotFound", "InvalidInput"],
        byStatus: { 404: () => noJob(id) }
      })
    }),
    keptStatuses: fn("AccountService.keptStatuses")(function* (id) {
      yield* checkId(id, noJob)
      return yield* call({
        ...api.accountJobsByIdKeptGet({ params: { id } }),
        read: readKept,
        refusals: ["JobNotFound"],
        byStatus: { 404: () => noJob(id) }
      })
    }),
    overview: fn("AccountService.overview")(function* () {
      return yield* call({ ...api.accountOverviewGet({}), read: readOverview, refusals: [] })
    })(),
    emails: fn("AccountService.emails")(function* ({ before, limit } = {}) {
      yield* checkRunsPage({ limit })
      if (before !== undefined) yield* checkId(before, noEmail)
      return yield* call({
        ...api.accountEmailsGet({ query: { beforeEmail: before, limit } }),
        read: readEmails,
        refusals: ["EmailNotFound", "InvalidInput"]
      })
    }),
    email: fn("AccountService.email")(function* (id) {
      yield* checkId(id, noEmail)
      return yield* call({
        ...api.accountEmailsByIdGet({ params: { id } }),
        read: readEmail,
        refusals: ["EmailNotFound"],
        byStatus: { 404: () => noEmail(id) }
      })
    }),
    rules: fn("AccountService.rules")(function* () {
      return yield* call({ ...api.accountRulesGet({}), read: readRules, refusals: [] })
    })(),
    saveRule: fn("AccountService.saveRule")(function* (given, rule, { view } = {}) {
      const name = yield* checkRuleName(given)
      const text = yield* Effect.fromResult(checkRule(rule))
      yield* checkRuleView(view)
      yield* call({
        ...api.accountRulesByNamePut({ params: { name }, payload: { rule: text, view } }),
        read: readDone,
        refusals: ["InvalidRule", "InvalidInput"]
      })
    }),
    removeRule: fn("AccountService.removeRule")(function* (given) {
      const name = yield* checkRuleName(given)
      yield* call({
        ...api.accountRulesByNameDelete({ params: { name } }),
        read: readDone,
        refusals: ["SavedRuleNotFound", "InvalidInput"],
        byStatus: { 404: () => new SavedRuleNotFound({ name }) }
      })
    })
  })
})

/** The service on a new client. */
export const layer = (options: ClientOptions) =>
  Layer.effect(AccountService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
