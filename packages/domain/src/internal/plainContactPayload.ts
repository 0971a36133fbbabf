/**
 * Contacts to add as services get nearly all of them, read without the steps of a schema, as `plainContact.ts` does for the
 * contacts that they answer. What is not plain, and what is wrong, is left to the schema; a property test proves that the
 * two agree.
 */
import { type SchemaAST } from "effect"
import { invalid } from "effect/schema/SchemaCompiler"
import type { ContactPayload, ContactStatus, ConsentTracking } from "../Contact.ts"
import { type EmailAddress, emailAddressIssue } from "../EmailAddress.ts"
import { areTexts, consentReader, isPlain, isUsual, type Writable } from "./plainContact.ts"

const isEmailAddress = (value: unknown): value is EmailAddress =>
  typeof value === "string" && emailAddressIssue(value) === undefined

/**
 * Makes the way from the wire, to a payload or to `invalid`.
 *
 * @internal
 */
export const plainPayloadDecoder = (
  statuses: ReadonlyArray<ContactStatus>,
  trackings: ReadonlyArray<ConsentTracking>
): ((wire: unknown, options: SchemaAST.ParseOptions) => unknown) => {
  const knownStatuses = new Set<unknown>(statuses)
  const isStatus = (value: unknown): value is ContactStatus => knownStatuses.has(value)
  const knownTrackings = new Set<unknown>(trackings)
  const readConsent = consentReader((value): value is ConsentTracking => knownTrackings.has(value))

  const readPayload = (wire: unknown): ContactPayload | undefined => {
    if (!isPlain<typeof ContactPayload.Encoded>(wire)) return undefined
    const email = wire.Email
    if (!isEmailAddress(email)) return undefined
    const to: Writable<ContactPayload> = { email }
    const status = wire.Status
    if (isStatus(status)) to.status = status
    else if (status !== undefined || "Status" in wire) return undefined
    const firstName = wire.FirstName
    if (typeof firstName === "string") to.firstName = firstName
    else if (firstName !== undefined || "FirstName" in wire) return undefined
    const lastName = wire.LastName
    if (typeof lastName === "string") to.lastName = lastName
    else if (lastName !== undefined || "LastName" in wire) return undefined
    const customFields = wire.CustomFields
    if (areTexts(customFields)) to.customFields = { ...customFields }
    else if (customFields !== undefined || "CustomFields" in wire) return undefined
    const consent = readConsent(wire.Consent)
    if (consent !== undefined) to.consent = consent
    else if ("Consent" in wire) return undefined
    return to
  }

  return (wire, options) => (isUsual(options) ? (readPayload(wire) ?? invalid) : invalid)
}
