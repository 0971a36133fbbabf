/** `AccountService` on the database of a store. (docs/decisions/account.md) */
import {
  AccessLevel,
  AccountService,
  type AuditPage,
  type CallingKey,
  checkRule,
  type EmailsPage,
  type JobsPage,
  type RowsPage,
  type SaveRuleOptions,
  type SubaccountScope,
  Unauthorized,
  checkedMethods
} from "@roster/domain"
import {
  checkAuditPage,
  checkRuleName,
  checkRuleView,
  checkRunPage,
  checkRunsPage,
  fnRedacted
} from "@roster/domain/internal"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { accountOf, refuse } from "../credentials/AuditedChange.ts"
import { readEntries, readKeyUses } from "../credentials/AuditQueries.ts"
import { Caller } from "../credentials/Caller.ts"
import { asCaller } from "../credentials/CallerCheck.ts"
import { findCredentials } from "../credentials/CredentialRow.ts"
import { readOverview } from "../jobs/overview/Overviews.ts"
import { JobRunner } from "../jobs/worker/JobRunner.ts"
import { cancelJob, readJob, readJobs, readKept, readRejected } from "../jobs/worker/Jobs.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { findEmail, readOutbox } from "./Outbox.ts"
import { readSavedRules, removeSavedRule, writeSavedRule } from "./SavedRules.ts"

const everyLevel = AccessLevel.literals.filter((level) => level !== "None")

const absent: JobRunner["Service"] = { wake: Effect.void, settled: Effect.void, isAbsent: true }

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Who composes a store without jobs counts by asking.
  const jobRunner = Option.getOrElse(yield* Effect.serviceOption(JobRunner), () => absent)
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)
  const account = Effect.map(Caller, ({ account }) => account)

  const key = fnRedacted("AccountService.key")(function* () {
    const { account, key } = yield* Caller
    if (key === undefined) return { name: null, account, accessLevels: everyLevel, expires: null } satisfies CallingKey
    const [row] = yield* findCredentials(sql, sql`id = ${key.id}`)
    if (row === undefined) return yield* refuse("accountKeyGet", new Unauthorized({}))
    const { accessLevels, expires, name } = row
    return { name, account, accessLevels, expires } satisfies CallingKey
  }, orStoreFailure("accountKeyGet"))()

  const auditTrail = fnRedacted("AccountService.auditTrail")(
    function* ({ subaccount, ...page }: AuditPage = {}) {
      yield* checkAuditPage(page)
      const caller = yield* Caller
      const asked = yield* accountOf(caller, subaccount)
      if (asked === undefined) return []
      // The main account manages the credentials of all.
      return yield* readEntries(subaccount === undefined && asked === "" ? undefined : asked, page)
    },
    inStore,
    orStoreFailure("accountAuditGet")
  )

  const keyUses = fnRedacted("AccountService.keyUses")(
    function* ({ subaccount }: SubaccountScope = {}) {
      const asked = yield* accountOf(yield* Caller, subaccount)
      return asked === undefined ? [] : yield* readKeyUses(asked)
    },
    inStore,
    orStoreFailure("accountKeyUsesGet")
  )

  const jobs = fnRedacted("AccountService.jobs")(
    function* (page: JobsPage = {}) {
      yield* checkRunsPage(page)
      return yield* readJobs(yield* account, page)
    },
    inStore,
    orStoreFailure("accountJobsGet")
  )

  const job = fnRedacted("AccountService.job")(
    function* (id: string) {
      return yield* readJob(yield* account, id)
    },
    inStore,
    orStoreFailure("accountJobsByIdGet")
  )

  const cancel = fnRedacted("AccountService.cancelJob")(
    function* (id: string) {
      const operation = "accountJobsByIdCancelPost"
      yield* asCaller(sql, operation, cancelJob(operation, yield* account, id))
    },
    inStore,
    orStoreFailure("accountJobsByIdCancelPost")
  )

  const rejectedRows = fnRedacted("AccountService.rejectedRows")(
    function* (id: string, page: RowsPage = {}) {
      yield* checkRunPage(page)
      return yield* readRejected(yield* account, id, page)
    },
    inStore,
    orStoreFailure("accountJobsByIdRejectedGet")
  )

  const keptStatuses = fnRedacted("AccountService.keptStatuses")(
    function* (id: string) {
      return yield* readKept(yield* account, id)
    },
    inStore,
    orStoreFailure("accountJobsByIdKeptGet")
  )

  const overview = fnRedacted("AccountService.overview")(
    function* () {
      return yield* readOverview(yield* account, jobRunner)
    },
    inStore,
    orStoreFailure("accountOverviewGet")
  )()

  const emails = fnRedacted("AccountService.emails")(
    function* (page: EmailsPage = {}) {
      yield* checkRunsPage(page)
      return yield* readOutbox(yield* account, page)
    },
    inStore,
    orStoreFailure("accountEmailsGet")
  )

  const email = fnRedacted("AccountService.email")(
    function* (id: string) {
      return yield* findEmail(yield* account, id)
    },
    inStore,
    orStoreFailure("accountEmailsByIdGet")
  )

  const rules = fnRedacted("AccountService.rules")(
    function* () {
      return yield* readSavedRules(yield* account)
    },
    inStore,
    orStoreFailure("accountRulesGet")
  )()

  const saveRule = fnRedacted("AccountService.saveRule")(
    function* (given: string, text: string, { view }: SaveRuleOptions = {}) {
      const name = yield* checkRuleName(given)
      const rule = yield* Effect.fromResult(checkRule(text))
      yield* checkRuleView(view)
      const saved = { name, rule, ...(view === undefined ? {} : { view }) }
      yield* asCaller(sql, "accountRulesByNamePut", writeSavedRule(yield* account, saved))
    },
    inStore,
    orStoreFailure("accountRulesByNamePut")
  )

  const removeRule = fnRedacted("AccountService.removeRule")(
    function* (given: string) {
      const name = yield* checkRuleName(given)
      yield* asCaller(sql, "accountRulesByNameDelete", removeSavedRule(yield* account, name))
    },
    inStore,
    orStoreFailure("accountRulesByNameDelete")
  )

  return checkedMethods(AccountService, {
    key,
    auditTrail,
    keyUses,
    jobs,
    job,
    cancelJob: cancel,
    rejectedRows,
    keptStatuses,
    overview,
    emails,
    email,
    rules,
    saveRule,
    removeRule
  })
})

/** Provides `AccountService` on the database of a store. */
export const layer: Layer.Layer<AccountService, never, SqlClient.SqlClient> = Layer.effect(AccountService, make)
