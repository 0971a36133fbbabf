import {
  CompressionFormat,
  Contact,
  ContactPayload,
  ContactUpdatePayload,
  EmailsPayload,
  ExportFileFormat,
  ExportLink,
  ExportStatus
} from "@roster/domain"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Multipart } from "effect/http"
import { byEmail, documentPaging, emails, needs, paging, repeated } from "./Parameters.ts"
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
    }).annotateMerge(needs("ModifyContacts", "Delete a contact")),
    HttpApiEndpoint.get("contactsByEmailGet", "/contacts/:email", {
      params: byEmail,
      success: Contact,
      error: NotFound
    }).annotateMerge(needs("ViewContacts", "Load a contact")),
    HttpApiEndpoint.put("contactsByEmailPut", "/contacts/:email", {
      params: byEmail,
      payload: ContactUpdatePayload,
      success: Contact,
      error: [NotFound, ...bodyErrors]
    }).annotateMerge(needs("ModifyContacts", "Update a contact; fields that are left out stay as they are")),
    HttpApiEndpoint.post("contactsDeletePost", "/contacts/delete", {
      payload: EmailsPayload,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(needs("ModifyContacts", "Delete contacts by rule or by a list of e-mails, never both")),
    HttpApiEndpoint.get("contactsExportByIdStatusGet", "/contacts/export/:id/status", {
      params: { id: Schema.String },
      success: ExportStatus,
      error: NotFound
    }).annotateMerge(needs("Export", "Check the status of an export")),
    HttpApiEndpoint.post("contactsExportPost", "/contacts/export", {
      query: {
        fileFormat: Schema.optional(ExportFileFormat),
        rule: Schema.optional(Schema.String),
        emails: Schema.optional(emails),
        compressionFormat: Schema.optional(CompressionFormat),
        fileName: Schema.optional(Schema.String)
      },
      success: ExportLink.pipe(HttpApiSchema.status(202)),
      error: [BadRequest, Conflict]
    }).annotateMerge(needs("Export", "Export contacts to a file")),
    HttpApiEndpoint.get("contactsGet", "/contacts", {
      query: { ...paging, rule: Schema.optional(Schema.String) },
      success: Schema.Array(Contact),
      error: BadRequest
    })
      .annotateMerge(needs("ViewContacts", "List contacts"))
      .annotateMerge(documentPaging),
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
    }).annotateMerge(needs("ModifyContacts", "Import contacts from a CSV file or from the address of one")),
    HttpApiEndpoint.post("contactsPost", "/contacts", {
      query: { listnames: Schema.optional(repeated) },
      payload: Schema.Array(ContactPayload),
      success: Schema.Array(Contact),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(needs("ModifyContacts", "Add up to 1000 contacts, of 8 MiB together"))
  )
  .annotateMerge(OpenApi.annotations({ title: "Contacts" })) {}
