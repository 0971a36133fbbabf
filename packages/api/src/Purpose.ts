/** The purposes of a key, apart from `Operation`: every command-line start needs them, but not the whole contract. */
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
} as const satisfies Readonly<Record<OperationId, string>>

/** The purpose of a key, such as `contacts:read`. */
export type Purpose = (typeof operationPurposes)[OperationId]

/** All purposes, in alphabetical order. */
export const purposes: ReadonlyArray<Purpose> = [...new Set(Object.values(operationPurposes))].sort()

const byOperation: ReadonlyMap<string, Purpose> = new Map(Object.entries(operationPurposes))

/** The purpose of an operation, by its identifier. */
export const purposeOf = (operation: string): Purpose | undefined => byOperation.get(operation)

/** Parses a typed purpose, in full or only the part after the colon if that is unambiguous. */
export const parsePurpose = (text: string): Purpose | undefined => {
  const typed = text.trim().toLowerCase()
  const whole = purposes.find((purpose) => purpose === typed)
  const [short, ...others] = purposes.filter((purpose) => purpose.split(":")[1] === typed)
  return whole ?? (others.length === 0 ? short : undefined)
}
