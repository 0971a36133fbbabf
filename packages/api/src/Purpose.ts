/**
 * What somebody wants to do, in a word for each group of operations: what a key is made for. Which access level a purpose
 * needs is not said here; `AccessFor` reads it from the contract.
 */
import type { OperationId } from "./Operation.ts"

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

export type Purpose = (typeof operationPurposes)[OperationId]

/** All purposes, in alphabetical order. */
export const purposes: ReadonlyArray<Purpose> = [...new Set(Object.values(operationPurposes))].sort()

const byOperation: ReadonlyMap<string, Purpose> = new Map(Object.entries(operationPurposes))

/** The purpose that an operation of the interface serves. */
export const purposeOf = (operation: string): Purpose | undefined => byOperation.get(operation)

/** What a purpose ends with, where one alone does: `export` is `contacts:export`. */
const shortOf = (purpose: Purpose): string => purpose.slice(purpose.indexOf(":") + 1)

/** Reads a purpose as it is typed: whole, or without what it is about where that can be one thing only. */
export const parsePurpose = (text: string): Purpose | undefined => {
  const typed = text.trim().toLowerCase()
  const whole = purposes.find((purpose) => purpose === typed)
  const [short, ...others] = purposes.filter((purpose) => shortOf(purpose) === typed)
  return whole ?? (others.length === 0 ? short : undefined)
}
