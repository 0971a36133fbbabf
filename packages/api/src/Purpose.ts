/** The purposes of operations, apart from `Operation`: every command-line start needs them, but not the whole contract. */
import type { Purpose } from "@roster/domain/Purpose"
import type { OperationId } from "./RosterApi.ts"

const operationPurposes = {
  contactsByEmailDelete: "contacts:delete",
  contactsByEmailGet: "contacts:read",
  contactsByEmailPut: "contacts:write",
  contactsDeletePost: "contacts:delete",
  contactsExportByIdStatusGet: "contacts:export",
  contactsExportPost: "contacts:export",
  contactsGet: "contacts:read",
  contactsImportPost: "contacts:import",
  contactsPost: "contacts:write",
  securityApikeysByNameDelete: "apikeys:write",
  securityApikeysByNameGet: "apikeys:read",
  securityApikeysByNamePut: "apikeys:write",
  securityApikeysGet: "apikeys:read",
  securityApikeysPost: "apikeys:write",
  securitySmtpByNameDelete: "smtp:write",
  securitySmtpByNameGet: "smtp:read",
  securitySmtpByNamePut: "smtp:write",
  securitySmtpGet: "smtp:read",
  securitySmtpPost: "smtp:write",
  emailsPost: "emails:send"
} as const satisfies Readonly<Record<OperationId, Purpose>>

const byOperation: ReadonlyMap<string, Purpose> = new Map(Object.entries(operationPurposes))

/** The purpose of an operation, by its identifier. */
export const purposeOf = (operation: string): Purpose | undefined => byOperation.get(operation)
