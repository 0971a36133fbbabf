/**
 * The HTTP interface, written down once. Every path follows a base address whose last segment is `v4`.
 * (Service interface, whole.)
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { ApiKeyAuth } from "./ApiKeyAuth.ts"
import { ContactsApi } from "./ContactsApi.ts"
import { EmailsApi } from "./EmailsApi.ts"
import { RequestErrors } from "./RequestErrors.ts"
import { SecurityApi } from "./SecurityApi.ts"

export class RosterApi extends HttpApi.make("roster")
  .add(ContactsApi, SecurityApi, EmailsApi)
  .middleware(RequestErrors)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Roster",
      version: "4.0.0",
      description: "Contacts and access credentials."
    })
  ) {}

/**
 * The path segment that the base address ends with.
 * (Service interface, Versioning, 1.)
 */
export const versionSegment = "v4"
