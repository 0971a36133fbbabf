/** The endpoints of contacts, exports and imports. (docs/decisions/records.md) */
import {
  ChangeAnswerRecord,
  CompressionFormat,
  Contact,
  ContactCount,
  ContactHistory,
  ContactLookup,
  ContactSearch,
  ContactChange,
  ContactPayload,
  ContactStatus,
  ContactUpdatePayload,
  EmailsPayload,
  ExportFileFormat,
  ExportLink,
  ExportStatus,
  FieldsInUse
} from "@roster/domain"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Multipart } from "effect/http"
import { always, deletes, keyed, needs, never, reads } from "./OperationPolicy.ts"
import {
  byEmail,
  changesHonoured,
  emails,
  flag,
  idempotencyKeyHeader,
  paging,
  readsHonoured,
  repeated,
  resubscribeHeader,
  runHeader,
  runsHonoured,
  searchHonoured,
  sorted,
  withLists
} from "./Parameters.ts"
import { BadRequest, bodyErrors, Conflict, NotFound, UnsupportedMediaType } from "./WireError.ts"

const importOptions = {
  listName: Schema.optional(Schema.String),
  encodingName: Schema.optional(Schema.String),
  fileUrl: Schema.optional(Schema.String)
}

/** The operations on contacts. (docs/decisions/records.md) */
export class ContactsApi extends HttpApiGroup.make("contacts", { topLevel: true })
  .add(
    HttpApiEndpoint.delete("contactsByEmailDelete", "/contacts/:email", {
      params: byEmail,
      success: HttpApiSchema.Empty(200),
      error: NotFound
    }).annotateMerge(needs("contacts:delete", "Delete a contact", { headers: [runHeader] })),
    HttpApiEndpoint.get("contactsByEmailGet", "/contacts/:email", {
      params: byEmail,
      query: withLists,
      success: Contact,
      error: NotFound
    }).annotateMerge(needs("contacts:read", "Load a contact")),
    HttpApiEndpoint.get("contactsByEmailHistoryGet", "/contacts/:email/history", {
      params: byEmail,
      query: { limit: paging.limit, cursor: Schema.optional(Schema.String) },
      success: ContactHistory,
      error: [BadRequest, NotFound]
    }).annotateMerge(
      needs("contacts:read", "List what was done to a contact, the newest first", { announcedBy: runsHonoured })
    ),
    HttpApiEndpoint.put("contactsByEmailPut", "/contacts/:email", {
      params: byEmail,
      payload: ContactUpdatePayload,
      success: Contact,
      error: [NotFound, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Update a contact; fields that are left out stay as they are", { headers: [runHeader] })
    ),
    HttpApiEndpoint.post("contactsChangesPost", "/contacts/changes", {
      query: { dryRun: Schema.optional(flag) },
      payload: Schema.Array(ContactChange),
      success: Schema.Array(ChangeAnswerRecord),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Change or delete up to 1000 contacts, each only if it still is as it was seen", {
        retries: always("Make the same changes again: what is done is not done twice."),
        headers: [idempotencyKeyHeader, runHeader],
        announcedBy: changesHonoured
      })
    ),
    HttpApiEndpoint.get("contactsCountGet", "/contacts/count", {
      query: { rule: Schema.optional(Schema.String) },
      success: ContactCount,
      error: BadRequest
    }).annotateMerge(needs("contacts:read", "Count contacts", { announcedBy: readsHonoured })),
    HttpApiEndpoint.post("contactsDeletePost", "/contacts/delete", {
      payload: EmailsPayload,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:delete", "Delete contacts by rule or by a list of e-mails, never both", {
        retries: deletes,
        headers: [idempotencyKeyHeader, runHeader]
      })
    ),
    HttpApiEndpoint.get("contactsExportByIdStatusGet", "/contacts/export/:id/status", {
      params: { id: Schema.String },
      success: ExportStatus,
      error: NotFound
    }).annotateMerge(needs("contacts:export", "Check the status of an export")),
    HttpApiEndpoint.post("contactsExportPost", "/contacts/export", {
      query: {
        fileFormat: Schema.optional(ExportFileFormat),
        rule: Schema.optional(Schema.String),
        emails: Schema.optional(emails),
        compressionFormat: Schema.optional(CompressionFormat),
        fileName: Schema.optional(Schema.String),
        ...withLists
      },
      payload: [EmailsPayload, HttpApiSchema.NoContent],
      success: ExportLink.pipe(HttpApiSchema.status(202)),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:export", "Export contacts to a file", {
        retries: keyed("Ask for a new export; the lost one expires by itself."),
        headers: [idempotencyKeyHeader],
        answersSecret: true
      })
    ),
    HttpApiEndpoint.get("contactsFieldsGet", "/contacts/fields", {
      query: { rule: Schema.optional(Schema.String) },
      success: FieldsInUse,
      error: BadRequest
    }).annotateMerge(needs("contacts:read", "Count the fields that contacts have", { announcedBy: readsHonoured })),
    HttpApiEndpoint.get("contactsGet", "/contacts", {
      query: { ...paging, ...sorted, rule: Schema.optional(Schema.String), ...withLists },
      success: Schema.Array(Contact),
      error: BadRequest
    }).annotateMerge(needs("contacts:read", "List contacts")),
    HttpApiEndpoint.post("contactsImportPost", "/contacts/import", {
      query: importOptions,
      payload: [
        Schema.Struct({ ...importOptions, file: Schema.optional(Multipart.FilesSchema) }).pipe(
          HttpApiSchema.asMultipart()
        ),
        HttpApiSchema.NoContent
      ],
      success: HttpApiSchema.Accepted,
      error: [BadRequest, UnsupportedMediaType]
    }).annotateMerge(
      needs("contacts:import", "Import contacts from a CSV file or from the address of one", {
        retries: never("Look for contacts of the file before importing it again."),
        headers: [resubscribeHeader, runHeader]
      })
    ),
    HttpApiEndpoint.post("contactsLookupPost", "/contacts/lookup", {
      query: withLists,
      payload: ContactLookup,
      success: Schema.Array(Contact),
      error: [BadRequest, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:read", "Load the contacts with up to 1000 addresses", {
        retries: reads,
        announcedBy: readsHonoured
      })
    ),
    HttpApiEndpoint.post("contactsPost", "/contacts", {
      query: {
        listnames: Schema.optional(repeated),
        only: Schema.optional(Schema.Literals(["existing", "new"])),
        defaultStatus: Schema.optional(ContactStatus)
      },
      payload: Schema.Array(ContactPayload),
      success: Schema.Array(Contact),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Add up to 1000 contacts, of 8 MiB together", {
        retries: keyed("Add the same contacts again: existing ones are updated."),
        headers: [idempotencyKeyHeader, resubscribeHeader, runHeader]
      })
    ),
    HttpApiEndpoint.post("contactsSearchPost", "/contacts/search", {
      query: { ...paging, ...sorted, ...withLists, count: Schema.optional(flag) },
      payload: ContactSearch,
      success: [Schema.Array(Contact), ContactCount],
      error: [BadRequest, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:read", "List or count the contacts of a rule, which may be longer than an address holds", {
        retries: reads,
        announcedBy: searchHonoured
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Contacts" })) {}
