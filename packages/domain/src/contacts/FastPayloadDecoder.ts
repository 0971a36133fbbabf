/**
 * Contacts to add as nearly all of them are, read from the wire and written for it without the steps of a schema, as
 * `plainContact.ts` does for the contacts that are answered. What is not plain, and what is wrong, is left to the schema; a
 * property test proves that the two agree.
 */
import { type SchemaAST } from "effect"
import { invalid } from "effect/schema/SchemaCompiler"
import type { ContactPayload, ContactStatus, ConsentTracking } from "./Contact.ts"
import { type EmailAddress, emailAddressIssue } from "../values/EmailAddress.ts"
import { formatWireDate, isInstant } from "../values/WireDate.ts"
import { areTexts, isPlain, isUsual, readDate, type Writable } from "./FastContactDecoder.ts"

type Consent = NonNullable<ContactPayload["consent"]>
type Wire = typeof ContactPayload.Encoded
type WireConsent = NonNullable<Wire["Consent"]>

const isEmailAddress = (value: unknown): value is EmailAddress =>
  typeof value === "string" && emailAddressIssue(value) === undefined

const isOneOf = <A>(values: ReadonlyArray<A>): ((value: unknown) => value is A) => {
  const known = new Set<unknown>(values)
  return (value): value is A => known.has(value)
}

/** Makes both ways, each to a payload or to `invalid`. */
export const plainPayload = (statuses: ReadonlyArray<ContactStatus>, trackings: ReadonlyArray<ConsentTracking>) => {
  const isStatus = isOneOf(statuses)
  const isTracking = isOneOf(trackings)

  const readConsent = (wire: unknown): Consent | undefined => {
    if (!isPlain<WireConsent>(wire)) return undefined
    const to: Writable<Consent> = {}
    const ip = wire.ConsentIP
    if (typeof ip === "string") to.ip = ip
    else if (ip !== null && "ConsentIP" in wire) return undefined
    const date = wire.ConsentDate === null ? null : readDate(wire.ConsentDate)
    if (date !== undefined) to.date = date
    else if ("ConsentDate" in wire) return undefined
    const tracking = wire.ConsentTracking
    if (isTracking(tracking)) to.tracking = tracking
    else if (tracking !== null && "ConsentTracking" in wire) return undefined
    return to
  }

  const read = (wire: unknown): ContactPayload | undefined => {
    if (!isPlain<Wire>(wire)) return undefined
    const email = wire.Email
    if (!isEmailAddress(email)) return undefined
    const to: Writable<ContactPayload> = { email }
    const status = wire.Status
    if (isStatus(status)) to.status = status
    else if (status !== null && "Status" in wire) return undefined
    const firstName = wire.FirstName
    if (typeof firstName === "string") to.firstName = firstName
    else if (firstName !== null && "FirstName" in wire) return undefined
    const lastName = wire.LastName
    if (typeof lastName === "string") to.lastName = lastName
    else if (lastName !== null && "LastName" in wire) return undefined
    const customFields = wire.CustomFields
    if (areTexts(customFields)) to.customFields = { ...customFields }
    else if (customFields !== null && "CustomFields" in wire) return undefined
    const consent = readConsent(wire.Consent)
    if (consent !== undefined) to.consent = consent
    else if (wire.Consent !== null && "Consent" in wire) return undefined
    return to
  }

  const writeConsent = (value: unknown): WireConsent | undefined => {
    if (!isPlain<Consent>(value)) return undefined
    const to: Writable<WireConsent> = {}
    const { date, ip, tracking } = value
    if (typeof ip === "string") to.ConsentIP = ip
    else if (ip !== undefined) return undefined
    if (isInstant(date)) to.ConsentDate = formatWireDate(date)
    else if (date === null) to.ConsentDate = null
    else if (date !== undefined) return undefined
    if (isTracking(tracking)) to.ConsentTracking = tracking
    else if (tracking !== undefined) return undefined
    return to
  }

  const write = (value: unknown): Wire | undefined => {
    if (!isPlain<ContactPayload>(value)) return undefined
    const { consent, customFields, email, firstName, lastName, status } = value
    if (!isEmailAddress(email)) return undefined
    const to: Writable<Wire> = { Email: email }
    if (isStatus(status)) to.Status = status
    else if (status !== undefined) return undefined
    if (typeof firstName === "string") to.FirstName = firstName
    else if (firstName !== undefined) return undefined
    if (typeof lastName === "string") to.LastName = lastName
    else if (lastName !== undefined) return undefined
    if (areTexts(customFields)) to.CustomFields = { ...customFields }
    else if (customFields !== undefined) return undefined
    const agreed = writeConsent(consent)
    if (agreed !== undefined) to.Consent = agreed
    else if (consent !== undefined) return undefined
    return to
  }

  return {
    decode: (wire: unknown, options: SchemaAST.ParseOptions): unknown =>
      isUsual(options) ? (read(wire) ?? invalid) : invalid,
    encode: (payload: unknown, options: SchemaAST.ParseOptions): unknown =>
      isUsual(options) ? (write(payload) ?? invalid) : invalid
  }
}
