/** The whole HTTP interface as one value. The client and the server are made of it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { AccountApi } from "./AccountApi.ts"
import { ApiKeyAuth } from "./ApiKeyAuth.ts"
import { ContactsApi } from "./ContactsApi.ts"
import { EmailsApi } from "./EmailsApi.ts"
import { ListsApi } from "./ListsApi.ts"
import { RunsApi } from "./RunsApi.ts"
import { SecurityApi } from "./SecurityApi.ts"
import { RequestErrors } from "./WireError.ts"

/** The whole HTTP interface. Every path follows a base address whose last segment is `versionSegment`. */
export class RosterApi extends HttpApi.make("roster")
  .add(ContactsApi, SecurityApi, EmailsApi, RunsApi, ListsApi, AccountApi)
  .middleware(RequestErrors)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Roster",
      version: "4.0.0",
      description: "Contacts and access credentials."
    })
  ) {}

/** The last path segment of the base address. */
export const versionSegment = "v4"

const ownExport = new RegExp(`/${versionSegment}(/exports/.+)$`)

/**
 * The address below `baseUrl` at which a service of ours has the file of a link that leads nowhere. `undefined` if the
 * link is that of another service, has a signature, or would lose its TLS. (docs/decisions/downloads.md)
 */
export const exportBelow = (baseUrl: string, link: URL): URL | undefined => {
  const [, path] = ownExport.exec(link.pathname) ?? []
  const place = path === undefined ? null : URL.parse(`${baseUrl.replace(/\/$/, "")}${path}`)
  return place === null ||
    place.origin === link.origin ||
    link.search !== "" ||
    (link.protocol === "https:" && place.protocol === "http:")
    ? undefined
    : place
}

type Groups = (typeof RosterApi)["groups"]

/** The identifier of an operation. */
export type OperationId = { [G in keyof Groups]: keyof Groups[G]["endpoints"] }[keyof Groups] & string
