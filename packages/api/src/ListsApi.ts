/** The endpoints of lists. */
import { Contact, ContactList, EmailsPayload, ListPayload, ListUpdatePayload } from "@roster/domain"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { always, keyed, needs } from "./OperationPolicy.ts"
import { byName, flag, idempotencyKeyHeader, paging, runHeader, withLists } from "./Parameters.ts"
import { BadRequest, bodyErrors, Conflict, NotFound } from "./WireError.ts"

/** The operations on lists. */
export class ListsApi extends HttpApiGroup.make("lists", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listsGet", "/lists", {
      query: { ...paging, counts: Schema.optional(flag) },
      success: Schema.Array(ContactList),
      error: BadRequest
    }).annotateMerge(needs("contacts:read", "List the lists")),
    HttpApiEndpoint.post("listsPost", "/lists", {
      payload: ListPayload,
      success: ContactList.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Create a list, which is empty unless it names contacts", {
        retries: keyed("Load the list by its name: if it is there, it was created."),
        headers: [idempotencyKeyHeader, runHeader]
      })
    ),
    HttpApiEndpoint.get("listsByNameGet", "/lists/:name", {
      params: byName,
      success: ContactList,
      error: NotFound
    }).annotateMerge(needs("contacts:read", "Load a list")),
    HttpApiEndpoint.put("listsByNamePut", "/lists/:name", {
      params: byName,
      payload: ListUpdatePayload,
      success: ContactList,
      error: [BadRequest, NotFound, Conflict, ...bodyErrors]
    }).annotateMerge(needs("contacts:write", "Rename a list, or change whether contacts may unsubscribe from it")),
    HttpApiEndpoint.delete("listsByNameDelete", "/lists/:name", {
      params: byName,
      success: HttpApiSchema.Empty(200),
      error: NotFound
    }).annotateMerge(
      needs("contacts:write", "Take all contacts off a list and delete it; the contacts stay", { headers: [runHeader] })
    ),
    HttpApiEndpoint.get("listsByListnameContactsGet", "/lists/:name/contacts", {
      params: byName,
      query: { ...paging, ...withLists },
      success: Schema.Array(Contact),
      error: [BadRequest, NotFound]
    }).annotateMerge(needs("contacts:read", "List the contacts on a list")),
    HttpApiEndpoint.post("listsByNameContactsPost", "/lists/:name/contacts", {
      params: byName,
      payload: EmailsPayload,
      success: ContactList,
      error: [BadRequest, NotFound, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Put contacts on a list, by rule or by a list of e-mails, never both", {
        retries: always("Add the same contacts again: those that are on the list stay so."),
        headers: [runHeader]
      })
    ),
    HttpApiEndpoint.post("listsByNameContactsRemovePost", "/lists/:name/contacts/remove", {
      params: byName,
      payload: EmailsPayload,
      success: HttpApiSchema.Empty(200),
      error: [BadRequest, NotFound, ...bodyErrors]
    }).annotateMerge(
      needs("contacts:write", "Take contacts off a list, by rule or by a list of e-mails, never both", {
        retries: always("Remove the same contacts again: those that are off the list stay so."),
        headers: [runHeader]
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Lists" })) {}
