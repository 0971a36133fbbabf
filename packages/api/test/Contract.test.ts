import { assert, describe, it } from "@effect/vitest"
import { HttpApi } from "effect/http-api"
import { ApiKeyAuth, apiKeyHeader, operations, RequestErrors, RosterApi, versionSegment } from "../src/index.ts"
import { openApiDocument } from "../src/OpenApiDocument.ts"

/**
 * By hand from the service interface (method, path, level, status, query), and of the lists from the official clients. This table
 * is the oracle.
 */
const table = `
contactsByEmailDelete       DELETE /contacts/{email}             ModifyContacts     200 -
contactsByEmailGet          GET    /contacts/{email}             ViewContacts       200 lists
contactsByEmailPut          PUT    /contacts/{email}             ModifyContacts     200 -
contactsDeletePost          POST   /contacts/delete              ModifyContacts     200 -
contactsExportByIdStatusGet GET    /contacts/export/{id}/status  Export             200 -
contactsExportPost          POST   /contacts/export              Export             202 compressionFormat,emails,fileFormat,fileName,rule,lists
contactsGet                 GET    /contacts                     ViewContacts       200 limit,offset,sort,afterContact,rule,lists
contactsImportPost          POST   /contacts/import              ModifyContacts     202 encodingName,fileUrl,listName
contactsPost                POST   /contacts                     ModifyContacts     200 listnames,only,defaultStatus
securityApikeysByNameDelete DELETE /security/apikeys/{name}      ModifyAccessTokens 200 subaccount
securityApikeysByNameGet    GET    /security/apikeys/{name}      Security           200 subaccount
securityApikeysByNamePut    PUT    /security/apikeys/{name}      ModifyAccessTokens 200 -
securityApikeysGet          GET    /security/apikeys             Security           200 subaccount
securityApikeysPost         POST   /security/apikeys             ModifyAccessTokens 201 -
securitySmtpByNameDelete    DELETE /security/smtp/{name}         ModifyAccessTokens 200 subaccount
securitySmtpByNameGet       GET    /security/smtp/{name}         Security           200 subaccount
securitySmtpByNamePut       PUT    /security/smtp/{name}         ModifyAccessTokens 200 -
securitySmtpGet             GET    /security/smtp                Security           200 subaccount
securitySmtpPost            POST   /security/smtp                ModifyAccessTokens 201 -
emailsPost                  POST   /emails                       SendHttp           200 -
listsByListnameContactsGet    GET    /lists/{name}/contacts        ViewContacts       200 limit,offset,lists
listsByNameContactsPost       POST   /lists/{name}/contacts        ModifyContacts     200 -
listsByNameContactsRemovePost POST   /lists/{name}/contacts/remove ModifyContacts     200 -
listsByNameDelete             DELETE /lists/{name}                 ModifyContacts     200 -
listsByNameGet                GET    /lists/{name}                 ViewContacts       200 -
listsByNamePut                PUT    /lists/{name}                 ModifyContacts     200 -
listsGet                      GET    /lists                        ViewContacts       200 counts,limit,offset
listsPost                     POST   /lists                        ModifyContacts     201 -
`

/** Those that only Roster has. */
const own = `
contactsByEmailHistoryGet   GET    /contacts/{email}/history     ViewContacts       200 cursor,limit
contactsChangesPost         POST   /contacts/changes             ModifyContacts     200 dryRun
contactsCountGet            GET    /contacts/count               ViewContacts       200 rule
contactsFieldsGet           GET    /contacts/fields              ViewContacts       200 rule
contactsLookupPost          POST   /contacts/lookup              ViewContacts       200 lists
contactsSearchPost          POST   /contacts/search              ViewContacts       200 limit,offset,sort,afterContact,lists,count
accountAuditGet             GET    /account/audit                Security           200 beforeEntry,key,limit,since,subaccount
accountEmailsByIdGet        GET    /account/emails/{id}          ViewReports        200 -
accountEmailsGet            GET    /account/emails               ViewReports        200 beforeEmail,limit
accountJobsByIdCancelPost   POST   /account/jobs/{id}/cancel     ModifyContacts     200 -
accountJobsByIdGet          GET    /account/jobs/{id}            ViewContacts       200 -
accountJobsByIdKeptGet      GET    /account/jobs/{id}/kept       ViewContacts       200 -
accountJobsByIdRejectedGet  GET    /account/jobs/{id}/rejected   ViewContacts       200 afterLine,limit
accountJobsGet              GET    /account/jobs                 ViewContacts       200 beforeJob,limit
accountKeyGet               GET    /account/key                  None               200 -
accountKeyUsesGet           GET    /account/keyuses              Security           200 subaccount
accountOverviewGet          GET    /account/overview             ViewContacts       200 -
accountRulesByNameDelete    DELETE /account/rules/{name}         ModifyContacts     200 -
accountRulesByNamePut       PUT    /account/rules/{name}         ModifyContacts     200 -
accountRulesGet             GET    /account/rules                ViewContacts       200 -
runsByIdChangesGet          GET    /runs/{id}/changes            ViewContacts       200 after,before,limit
runsByIdEndPost             POST   /runs/{id}/end                ModifyContacts     200 resumable
runsByIdErasePost           POST   /runs/{id}/erase              ModifyContacts     200 -
runsByIdGet                 GET    /runs/{id}                    ViewContacts       200 -
runsByIdStepPost            POST   /runs/{id}/step               ModifyContacts     200 -
runsGet                     GET    /runs                         ViewContacts       200 beforeRun,limit
runsPost                    POST   /runs                         ModifyContacts     200 -
`

const rowsOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => {
      const [id = "", method = "", path = "", access = "", status = "", query = ""] = line.split(/\s+/)
      return { id, method, path, access, status: Number(status), query: query === "-" ? [] : query.split(",") }
    })

const interfaceRows = rowsOf(table)
const ownRows = rowsOf(own)
const allRows = [...interfaceRows, ...ownRows]

const sorted = (names: Iterable<string>) => [...names].sort()

describe("the contract", () => {
  it("has exactly the 28 operations of the interface, and those of our own", () => {
    assert.strictEqual(interfaceRows.length, 28)
    const idsOf = (isOwn: boolean) =>
      Array.from(operations.values()).flatMap(({ announcedBy, id }) =>
        (announcedBy !== undefined) === isOwn ? [id] : []
      )
    assert.deepStrictEqual(sorted(idsOf(false)), sorted(interfaceRows.map((row) => row.id)))
    assert.deepStrictEqual(sorted(idsOf(true)), sorted(ownRows.map((row) => row.id)))
  })

  it.each(allRows)("$id is $method $path with the level $access", ({ access, id, method, path }) => {
    const operation = operations.get(id)
    assert.deepStrictEqual(
      operation && [operation.id, operation.method, operation.path.replaceAll(/:(\w+)/g, "{$1}")],
      [id, method, path]
    )
    assert.strictEqual<string | undefined>(operation?.requiredAccess, access)
  })

  it("secures every endpoint, and lets each answer with the errors that any request may get", () => {
    const seen: Array<string> = []
    HttpApi.reflect(RosterApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, errors, middleware }) => {
        seen.push(endpoint.identifier)
        assert.includeMembers(
          [...middleware].map((service) => service.key),
          [ApiKeyAuth.key, RequestErrors.key],
          endpoint.identifier
        )
        for (const status of [400, 401, 403, 408, 421, 429, 500, 503])
          assert.isTrue(errors.has(status), `${endpoint.identifier} ${status}`)
      }
    })
    assert.deepStrictEqual(sorted(seen), sorted(allRows.map((row) => row.id)))
  })

  it("answers each success with the status of the public contract, and nothing else of that kind", () => {
    const byId = new Map(allRows.map((row) => [row.id, row.status]))
    HttpApi.reflect(RosterApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, successes }) => {
        assert.deepStrictEqual([...successes.keys()], [byId.get(endpoint.identifier) ?? 0], endpoint.identifier)
      }
    })
  })

  it("knows 404, 409, 413 and 415 exactly where something can be missing, taken, or the body of another kind", () => {
    const answering = new Map<number, Array<string>>([404, 409, 413, 415].map((status) => [status, []]))
    HttpApi.reflect(RosterApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, errors }) => {
        for (const [status, ids] of answering) if (errors.has(status)) ids.push(endpoint.identifier)
      }
    })
    assert.deepStrictEqual(
      sorted(answering.get(404) ?? []),
      // A run, a job or an e-mail can be named by the body or query too, and saving a rule makes it.
      sorted([
        ...allRows.filter((row) => row.path.includes("{") && row.id !== "accountRulesByNamePut").map((row) => row.id),
        "accountEmailsGet",
        "accountJobsGet",
        "runsGet",
        "runsPost"
      ])
    )
    const takingJson = [
      "accountRulesByNamePut",
      "contactsByEmailPut",
      "contactsChangesPost",
      "contactsDeletePost",
      "contactsExportPost",
      "contactsLookupPost",
      "contactsPost",
      "contactsSearchPost",
      "emailsPost",
      "listsByNameContactsPost",
      "listsByNameContactsRemovePost",
      "listsByNamePut",
      "listsPost",
      "runsByIdErasePost",
      "runsByIdStepPost",
      "runsPost",
      "securityApikeysByNamePut",
      "securityApikeysPost",
      "securitySmtpByNamePut",
      "securitySmtpPost"
    ]
    assert.deepStrictEqual(sorted(answering.get(413) ?? []), takingJson)
    assert.deepStrictEqual(sorted(answering.get(415) ?? []), sorted([...takingJson, "contactsImportPost"]))
    assert.deepStrictEqual(sorted(answering.get(409) ?? []), [
      // A job that has ended cannot be cancelled.
      "accountJobsByIdCancelPost",
      // These honour an Idempotency-Key, which can have been used for another request.
      "contactsChangesPost",
      "contactsDeletePost",
      "contactsExportPost",
      "contactsPost",
      "emailsPost",
      // The name of a list can be taken.
      "listsByNamePut",
      "listsPost",
      // Somebody can be at work on a run.
      "runsByIdEndPost",
      "runsPost",
      // The last key that can manage keys cannot be deleted.
      "securityApikeysByNameDelete",
      "securityApikeysByNamePut",
      "securityApikeysPost",
      "securitySmtpByNamePut",
      "securitySmtpPost"
    ])
  })

  it("is version 4 and takes the key in the header of the interface", () => {
    assert.strictEqual(versionSegment, "v4")
    assert.strictEqual(apiKeyHeader, "X-Service-ApiKey")
  })
})

describe("the OpenAPI document", () => {
  const document = openApiDocument([])
  const methods = { GET: "get", PUT: "put", POST: "post", DELETE: "delete" } as const
  const operation = (id: string) => {
    const row = allRows.find((candidate) => candidate.id === id)
    const method = Object.entries(methods).find(([name]) => name === row?.method)?.[1]
    return method === undefined ? undefined : document.paths[row?.path ?? ""]?.[method]
  }

  it.each(allRows)("calls $id by its identifier and secures it", ({ id }) => {
    assert.strictEqual(operation(id)?.operationId, id)
    assert.deepStrictEqual(operation(id)?.security, [{ apiKey: [] }])
  })

  it("has no operation besides", () => {
    assert.strictEqual(Object.values(document.paths).flatMap((item) => Object.keys(item)).length, allRows.length)
  })

  it.each(allRows)("gives $id the query parameters of the wire", ({ id, query }) => {
    const parameters = operation(id)?.parameters ?? []
    assert.deepStrictEqual(sorted(parameters.filter((p) => p.in === "query").map((p) => p.name)), sorted(query))
    assert.isTrue(
      parameters.filter((p) => p.in === "query").every((p) => !p.required),
      id
    )
  })

  it("says that limit and offset are numbers, and that a page has 1000 contacts at most", () => {
    const schemas = new Map((operation("contactsGet")?.parameters ?? []).map(({ name, schema }) => [name, schema]))
    assert.deepStrictEqual<unknown>(schemas.get("limit"), { type: "integer", minimum: 0, maximum: 1000, default: 20 })
    assert.deepInclude(schemas.get("offset"), { type: "integer", minimum: 0 })
  })

  it.each(allRows)("says of $id whether other services have it", ({ id }) => {
    const isOwn = ownRows.some((row) => row.id === id)
    assert.strictEqual(operation(id)?.description?.includes("An extension of Roster") === true, isOwn)
  })

  it("says where the key goes", () => {
    const { apiKey } = document.components.securitySchemes
    assert.deepStrictEqual(apiKey?.type === "apiKey" ? [apiKey.in, apiKey.name] : [], ["header", "X-Service-ApiKey"])
  })

  it("is plain JSON", () => {
    assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(document)), document)
  })
})
