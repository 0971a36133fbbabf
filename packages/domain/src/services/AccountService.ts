/**
 * The tag of the operations on what an account has besides its contacts and credentials. Every layer keeps the same
 * promises. (docs/decisions/account.md)
 */
import { Effect, Option, Stream } from "effect"
import type { AuditEntry, AuditPage, KeyUse } from "../credentials/AuditEntry.ts"
import type { CallingKey } from "../credentials/CallingKey.ts"
import { rejectedFile } from "../csv/RejectedRows.ts"
import type { AcceptedEmail, EmailNotFound, EmailsPage, EmailSummary } from "../emails/AcceptedEmail.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { ServiceError } from "../errors/ServiceError.ts"
import type { Job, JobEnded, JobNotFound, JobsPage, RejectedRows, RowsPage } from "../jobs/Job.ts"
import type { AccountOverview } from "../jobs/Overview.ts"
import type { KeptStatusRow } from "../contacts/StatusLadder.ts"
import type { InvalidRule } from "../rules/RuleError.ts"
import { checkRunsPage } from "../runs/RecordedChange.ts"
import type { SavedRule, SavedRuleNotFound, SaveRuleOptions } from "../saved/SavedRule.ts"
import { fieldsOf } from "../values/UnknownNames.ts"
import { CheckedService } from "./CheckedService.ts"
import type { SubaccountScope } from "./CredentialsService.ts"

/** The operations on the account of a key, the same on every layer. Lists are read page by page. */
export class AccountService extends CheckedService<
  AccountService,
  {
    /** Tells which key calls: its name, account, levels and end. `accountKeyGet`, needs any valid key. */
    readonly key: Effect.Effect<CallingKey, ServiceError>
    /** A page of the audit trail, the newest entries first. `accountAuditGet`, needs Security. */
    readonly auditTrail: (page?: AuditPage) => Effect.Effect<ReadonlyArray<AuditEntry>, InvalidInput | ServiceError>
    /** What each API key was used for, by level. `accountKeyUsesGet`, needs Security. */
    readonly keyUses: (of?: SubaccountScope) => Effect.Effect<ReadonlyArray<KeyUse>, InvalidInput | ServiceError>
    /** A page of the imports and exports, the newest first. `accountJobsGet`, needs ViewContacts. */
    readonly jobs: (page?: JobsPage) => Effect.Effect<ReadonlyArray<Job>, JobNotFound | InvalidInput | ServiceError>
    /** Gets a job. `accountJobsByIdGet`, needs ViewContacts. */
    readonly job: (id: string) => Effect.Effect<Job, JobNotFound | ServiceError>
    /**
     * Cancels an unfinished job at its next step, or ends the link of a ready export. Imported contacts stay; the file of an
     * export is removed. `accountJobsByIdCancelPost`, needs ModifyContacts, and Export too for an export.
     */
    readonly cancelJob: (id: string) => Effect.Effect<void, JobNotFound | JobEnded | ServiceError>
    /** A page of the rows that an import rejected. `accountJobsByIdRejectedGet`, needs ViewContacts. */
    readonly rejectedRows: (
      id: string,
      page?: RowsPage
    ) => Effect.Effect<RejectedRows, JobNotFound | InvalidInput | ServiceError>
    /**
     * The first 1000 rows of an import whose contacts kept their status, in the order of the file.
     * `accountJobsByIdKeptGet`, needs ViewContacts.
     */
    readonly keptStatuses: (id: string) => Effect.Effect<ReadonlyArray<KeptStatusRow>, JobNotFound | ServiceError>
    /**
     * The numbers of the account, at most a minute old: contacts by status, by month and by list. While they are counted, there are
     * none yet, so ask again in a second. `accountOverviewGet`, needs ViewContacts.
     */
    readonly overview: Effect.Effect<AccountOverview, ServiceError>
    /** A page of the messages that were accepted, the newest first, without texts. `accountEmailsGet`, needs ViewReports. */
    readonly emails: (
      page?: EmailsPage
    ) => Effect.Effect<ReadonlyArray<EmailSummary>, EmailNotFound | InvalidInput | ServiceError>
    /** Gets a message as it was submitted. `accountEmailsByIdGet`, needs ViewReports. */
    readonly email: (id: string) => Effect.Effect<AcceptedEmail, EmailNotFound | ServiceError>
    /** The saved rules, by name. `accountRulesGet`, needs ViewContacts. */
    readonly rules: Effect.Effect<ReadonlyArray<SavedRule>, ServiceError>
    /** Saves a rule, which replaces one of the same name and its view. `accountRulesByNamePut`, needs ModifyContacts. */
    readonly saveRule: (
      name: string,
      rule: string,
      options?: SaveRuleOptions
    ) => Effect.Effect<void, InvalidRule | InvalidInput | ServiceError>
    /** Removes a saved rule. `accountRulesByNameDelete`, needs ModifyContacts. */
    readonly removeRule: (name: string) => Effect.Effect<void, SavedRuleNotFound | InvalidInput | ServiceError>
  }
>()("@roster/domain/AccountService", {
  auditTrail: [
    fieldsOf<AuditPage>("a page of the audit trail", {
      key: true,
      since: true,
      subaccount: true,
      before: true,
      limit: true
    })
  ],
  keyUses: [fieldsOf<SubaccountScope>("a scope", { subaccount: true })],
  jobs: [fieldsOf<JobsPage>("a page of jobs", { limit: true, before: true })],
  job: [null],
  cancelJob: [null],
  rejectedRows: [null, fieldsOf<RowsPage>("a page of rows", { limit: true, after: true })],
  keptStatuses: [null],
  emails: [fieldsOf<EmailsPage>("a page of messages", { limit: true, before: true })],
  email: [null],
  saveRule: [null, null, fieldsOf<SaveRuleOptions>("a saved rule", { view: true })],
  removeRule: [null]
}) {}

/** Checks a page of the audit trail, with the same messages on every layer. */
export const checkAuditPage = ({ before, key, limit }: AuditPage): Effect.Effect<void, InvalidInput> =>
  before !== undefined && !(Number.isSafeInteger(before) && before >= 0)
    ? Effect.fail(
        new InvalidInput({ field: "before", issue: "it is the number of an entry, a whole number from 0 on" })
      )
    : key !== undefined && !key.isWellFormed()
      ? Effect.fail(new InvalidInput({ field: "key", issue: "it has unpaired surrogates" }))
      : checkRunsPage({ limit })

const isUntold = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.reason._tag === "Rejected" && error.reason.status === 404

/** Goes another way at a service that tells nothing of an account, as those of others and older ones do. */
export const orWhereUntold =
  <B, F, S>(other: Effect.Effect<B, F, S>) =>
  <A, E, R>(told: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | F, R | S> =>
    Effect.catchIf(told, isUntold, () => other)

/** The records of one call. */
const pageSize = 500

/** Records page by page, up to a limit. A page may have fewer than it may, so only an empty one ends them. */
const paged = <A, E>(
  limit: number = Number.POSITIVE_INFINITY,
  page: (service: AccountService["Service"], last: A | undefined, limit: number) => Effect.Effect<ReadonlyArray<A>, E>
): Stream.Stream<A, E, AccountService> =>
  Stream.unwrap(
    Effect.map(AccountService, (service) =>
      Stream.paginate({ last: undefined as A | undefined, left: limit }, ({ last, left }) =>
        Effect.map(page(service, last, Math.min(pageSize, left)), (records) => {
          const rest = left - records.length
          const isOver = records.length === 0 || rest <= 0
          return [records, isOver ? Option.none() : Option.some({ last: records.at(-1), left: rest })] as const
        })
      )
    )
  )

/** All entries of the audit trail that a query selects, or the newest of them, page by page. */
export const auditEntries = ({ limit, ...query }: AuditPage = {}) =>
  paged(limit, (service, last: AuditEntry | undefined, limit) =>
    service.auditTrail({ ...query, before: last?.number ?? query.before, limit })
  )

/** All jobs, or the newest, page by page. */
export const allJobs = ({ limit }: Pick<JobsPage, "limit"> = {}) =>
  paged(limit, (service, last: Job | undefined, limit) => service.jobs({ before: last?.id, limit }))

/** All messages that were accepted, or the newest, page by page. */
export const acceptedEmails = ({ limit }: Pick<EmailsPage, "limit"> = {}) =>
  paged(limit, (service, last: EmailSummary | undefined, limit) => service.emails({ before: last?.messageId, limit }))

/** The rows that an import rejected as a file, with reasons in the column `_error`, to correct and import again. */
export const rejectedRowsFile = (id: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { header } = yield* (yield* AccountService).rejectedRows(id, { limit: 0 })
      return header === null
        ? Stream.empty
        : rejectedFile(
            header,
            paged(undefined, (service, last: RejectedRows["rows"][number] | undefined, limit) =>
              Effect.map(service.rejectedRows(id, { after: last?.line, limit }), ({ rows }) => rows)
            )
          )
    })
  )
