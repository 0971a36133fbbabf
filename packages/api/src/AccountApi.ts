/** The endpoints of what an account has besides its contacts and credentials, which only Roster has. (docs/decisions/account.md) */
import {
  AcceptedEmail,
  AccountOverview,
  AuditEntry,
  CallingKey,
  EmailSummary,
  Job,
  KeptStatusRow,
  KeyUse,
  RejectedRows,
  SavedRule,
  SavedRulePayload,
  WireDate
} from "@roster/domain"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { always, needs, type Policy } from "./OperationPolicy.ts"
import { accountHonoured, byName, byNumber, bySubaccount, paging } from "./Parameters.ts"
import { BadRequest, bodyErrors, Conflict, NotFound } from "./WireError.ts"

const byId = { id: Schema.String }

const ours = (purpose: Policy["purpose"], summary: string, retries?: Policy["retries"]) =>
  needs(purpose, summary, { announcedBy: accountHonoured, ...(retries === undefined ? {} : { retries }) })

/** The operations on the account of a key. */
export class AccountApi extends HttpApiGroup.make("account", { topLevel: true })
  .add(
    HttpApiEndpoint.get("accountKeyGet", "/account/key", { success: CallingKey }).annotateMerge(
      ours("anyKey", "Load the key that calls, without its secret")
    ),
    HttpApiEndpoint.get("accountAuditGet", "/account/audit", {
      query: {
        limit: paging.limit,
        beforeEntry: byNumber.before,
        since: Schema.optional(WireDate),
        key: Schema.optional(Schema.String),
        ...bySubaccount
      },
      success: Schema.Array(AuditEntry),
      error: BadRequest
    }).annotateMerge(ours("apikeys:read", "List the entries of the audit trail, the newest first")),
    HttpApiEndpoint.get("accountKeyUsesGet", "/account/keyuses", {
      query: bySubaccount,
      success: Schema.Array(KeyUse),
      error: BadRequest
    }).annotateMerge(ours("apikeys:read", "List the access levels that each API key was used for")),
    HttpApiEndpoint.get("accountJobsGet", "/account/jobs", {
      query: { limit: paging.limit, beforeJob: Schema.optional(Schema.String) },
      success: Schema.Array(Job),
      error: [BadRequest, NotFound]
    }).annotateMerge(ours("contacts:read", "List imports and exports, the newest first")),
    HttpApiEndpoint.get("accountJobsByIdGet", "/account/jobs/:id", {
      params: byId,
      success: Job,
      error: NotFound
    }).annotateMerge(ours("contacts:read", "Load an import or export")),
    HttpApiEndpoint.post("accountJobsByIdCancelPost", "/account/jobs/:id/cancel", {
      params: byId,
      success: HttpApiSchema.Empty(200),
      error: [NotFound, Conflict]
    }).annotateMerge(
      ours(
        "contacts:write",
        "Cancel an import, or an export, which also needs Export",
        always("Load the job: its state says whether it was cancelled.")
      )
    ),
    HttpApiEndpoint.get("accountJobsByIdRejectedGet", "/account/jobs/:id/rejected", {
      params: byId,
      query: { limit: paging.limit, afterLine: byNumber.after },
      success: RejectedRows,
      error: [BadRequest, NotFound]
    }).annotateMerge(ours("contacts:read", "List the rows that an import rejected, in the order of the file")),
    HttpApiEndpoint.get("accountJobsByIdKeptGet", "/account/jobs/:id/kept", {
      params: byId,
      success: Schema.Array(KeptStatusRow),
      error: NotFound
    }).annotateMerge(ours("contacts:read", "List the first 1000 rows of an import whose contacts kept their status")),
    HttpApiEndpoint.get("accountOverviewGet", "/account/overview", { success: AccountOverview }).annotateMerge(
      ours("contacts:read", "Count the contacts by status, by month and by list, as they were in the last minute")
    ),
    HttpApiEndpoint.get("accountEmailsGet", "/account/emails", {
      query: { limit: paging.limit, beforeEmail: Schema.optional(Schema.String) },
      success: Schema.Array(EmailSummary),
      error: [BadRequest, NotFound]
    }).annotateMerge(ours("emails:read", "List the messages that were accepted, the newest first, without texts")),
    HttpApiEndpoint.get("accountEmailsByIdGet", "/account/emails/:id", {
      params: byId,
      success: AcceptedEmail,
      error: NotFound
    }).annotateMerge(ours("emails:read", "Load a message as it was submitted")),
    HttpApiEndpoint.get("accountRulesGet", "/account/rules", { success: Schema.Array(SavedRule) }).annotateMerge(
      ours("contacts:read", "List the saved rules by name")
    ),
    HttpApiEndpoint.put("accountRulesByNamePut", "/account/rules/:name", {
      params: byName,
      payload: SavedRulePayload,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, ...bodyErrors]
    }).annotateMerge(ours("contacts:write", "Save a rule, which replaces one of the same name")),
    HttpApiEndpoint.delete("accountRulesByNameDelete", "/account/rules/:name", {
      params: byName,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, NotFound]
    }).annotateMerge(ours("contacts:write", "Remove a saved rule"))
  )
  .annotateMerge(OpenApi.annotations({ title: "Account" })) {}
