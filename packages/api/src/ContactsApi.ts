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
import { RequiredAccess } from "./ApiKeyAuth.ts"
import { byEmail, documentPaging, emails, paging, repeated } from "./Parameters.ts"
import { BadRequest, NotFound } from "./WireError.ts"

const importOptions = {
  listName: Schema.optional(Schema.String),
  encodingName: Schema.optional(Schema.String),
  fileUrl: Schema.optional(Schema.String)
}

/** The operations on contacts. (Service interface, Endpoints, Contacts; docs/decisions/records.md) */
export class ContactsApi extends HttpApiGroup.make("contacts", { topLevel: true })
  .add(
    HttpApiEndpoint.delete("contactsByEmailDelete", "/contacts/:email", {
      params: byEmail,
      success: HttpApiSchema.Empty(200),
      error: NotFound
    })
      .annotate(RequiredAccess, "ModifyContacts")
      .annotate(OpenApi.Summary, "Delete a contact"),
    HttpApiEndpoint.get("contactsByEmailGet", "/contacts/:email", {
      params: byEmail,
      success: Contact,
      error: NotFound
    })
      .annotate(RequiredAccess, "ViewContacts")
      .annotate(OpenApi.Summary, "Load a contact"),
    HttpApiEndpoint.put("contactsByEmailPut", "/contacts/:email", {
      params: byEmail,
      payload: ContactUpdatePayload,
      success: Contact,
      error: NotFound
    })
      .annotate(RequiredAccess, "ModifyContacts")
      .annotate(OpenApi.Summary, "Update a contact; fields that are left out stay as they are"),
    HttpApiEndpoint.post("contactsDeletePost", "/contacts/delete", {
      payload: EmailsPayload,
      success: HttpApiSchema.Empty(200),
      error: BadRequest
    })
      .annotate(RequiredAccess, "ModifyContacts")
      .annotate(OpenApi.Summary, "Delete contacts by rule or by a list of e-mails, never both"),
    HttpApiEndpoint.get("contactsExportByIdStatusGet", "/contacts/export/:id/status", {
      params: { id: Schema.String },
      success: ExportStatus,
      error: NotFound
    })
      .annotate(RequiredAccess, "Export")
      .annotate(OpenApi.Summary, "Check the status of an export"),
    HttpApiEndpoint.post("contactsExportPost", "/contacts/export", {
      query: {
        fileFormat: Schema.optional(ExportFileFormat),
        rule: Schema.optional(Schema.String),
        emails: Schema.optional(emails),
        compressionFormat: Schema.optional(CompressionFormat),
        fileName: Schema.optional(Schema.String)
      },
      success: ExportLink.pipe(HttpApiSchema.status(202)),
      error: BadRequest
    })
      .annotate(RequiredAccess, "Export")
      .annotate(OpenApi.Summary, "Export contacts to a file"),
    HttpApiEndpoint.get("contactsGet", "/contacts", {
      query: { ...paging, rule: Schema.optional(Schema.String) },
      success: Schema.Array(Contact),
      error: BadRequest
    })
      .annotate(RequiredAccess, "ViewContacts")
      .annotate(OpenApi.Summary, "List contacts")
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
      error: BadRequest
    })
      .annotate(RequiredAccess, "ModifyContacts")
      .annotate(OpenApi.Summary, "Import contacts from a CSV file or from the address of one"),
    HttpApiEndpoint.post("contactsPost", "/contacts", {
      query: { listnames: Schema.optional(repeated) },
      payload: Schema.Array(ContactPayload),
      success: Schema.Array(Contact),
      error: BadRequest
    })
      .annotate(RequiredAccess, "ModifyContacts")
      .annotate(OpenApi.Summary, "Add up to 1000 contacts")
  )
  .annotateMerge(OpenApi.annotations({ title: "Contacts" })) {}
