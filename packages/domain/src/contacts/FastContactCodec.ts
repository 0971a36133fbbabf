/**
 * Fast path: decodes and encodes ordinary contacts without the steps of the schema, which take ten times as long (claims
 * `decode` and `stream` of benchmarks/RESULTS.md). Everything else, and everything wrong, is left to the schema, which
 * reports it; a property test proves that both agree. The decoders name each field where they read it, which is faster.
 */
import { type DateTime, type Schema, SchemaAST, SchemaParser } from "effect"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import { type EmailAddress, emailAddressIssue } from "../values/EmailAddress.ts"
import type { UnknownValue } from "../values/OpenLiterals.ts"
import { formatWireDate, isInstant, parseWireDate } from "../values/WireDate.ts"
import {
  type Consent,
  ConsentTracking,
  type ContactActivity,
  type ContactRecord,
  ContactStatus,
  type PayloadRecord
} from "./ContactRecord.ts"

type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** The names of a record with unknown values. */
type Fields<A> = { readonly [K in keyof A]?: unknown }

/** Other objects may have getters or inherited names. */
const isPlain = <A extends object>(value: unknown): value is Fields<A> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/** Every text is a value of an open enumeration, known or not. */
const isOpen = (value: unknown): value is UnknownValue => typeof value === "string"

const areTexts = (value: unknown): value is { readonly [name: string]: string } => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value)) return false
  for (const name in value) if (typeof value[name] !== "string") return false
  return true
}

const readDate = (value: unknown): DateTime.Utc | undefined =>
  typeof value === "string" ? parseWireDate(value) : undefined

const readConsent = (wire: unknown): Consent | undefined => {
  if (!isPlain<typeof Consent.Encoded>(wire)) return undefined
  const to: Writable<Consent> = {}
  const ip = wire.ConsentIP
  if (typeof ip === "string") to.ip = ip
  else if (ip !== undefined || "ConsentIP" in wire) return undefined
  const date = wire.ConsentDate === null ? null : readDate(wire.ConsentDate)
  if (date !== undefined) to.date = date
  else if ("ConsentDate" in wire) return undefined
  const tracking = wire.ConsentTracking
  if (isOpen(tracking)) to.tracking = tracking
  else if (tracking !== undefined || "ConsentTracking" in wire) return undefined
  return to
}

const readActivity = (wire: unknown): ContactActivity | undefined => {
  if (!isPlain<typeof ContactActivity.Encoded>(wire)) return undefined
  const to: Writable<ContactActivity> = {}
  const totalSent = wire.TotalSent
  if (isCount(totalSent)) to.totalSent = totalSent
  else if (totalSent !== undefined || "TotalSent" in wire) return undefined
  const totalOpened = wire.TotalOpened
  if (isCount(totalOpened)) to.totalOpened = totalOpened
  else if (totalOpened !== undefined || "TotalOpened" in wire) return undefined
  const totalClicked = wire.TotalClicked
  if (isCount(totalClicked)) to.totalClicked = totalClicked
  else if (totalClicked !== undefined || "TotalClicked" in wire) return undefined
  const totalFailed = wire.TotalFailed
  if (isCount(totalFailed)) to.totalFailed = totalFailed
  else if (totalFailed !== undefined || "TotalFailed" in wire) return undefined
  const lastSent = wire.LastSent === null ? null : readDate(wire.LastSent)
  if (lastSent !== undefined) to.lastSent = lastSent
  else if ("LastSent" in wire) return undefined
  const lastOpened = wire.LastOpened === null ? null : readDate(wire.LastOpened)
  if (lastOpened !== undefined) to.lastOpened = lastOpened
  else if ("LastOpened" in wire) return undefined
  const lastClicked = wire.LastClicked === null ? null : readDate(wire.LastClicked)
  if (lastClicked !== undefined) to.lastClicked = lastClicked
  else if ("LastClicked" in wire) return undefined
  const lastFailed = wire.LastFailed === null ? null : readDate(wire.LastFailed)
  if (lastFailed !== undefined) to.lastFailed = lastFailed
  else if ("LastFailed" in wire) return undefined
  const lastIP = wire.LastIP
  if (typeof lastIP === "string") to.lastIP = lastIP
  else if (lastIP !== undefined || "LastIP" in wire) return undefined
  const errorCode = wire.ErrorCode
  if (errorCode === null || isCount(errorCode)) to.errorCode = errorCode
  else if (errorCode !== undefined || "ErrorCode" in wire) return undefined
  const friendlyErrorMessage = wire.FriendlyErrorMessage
  if (typeof friendlyErrorMessage === "string") to.friendlyErrorMessage = friendlyErrorMessage
  else if (friendlyErrorMessage !== undefined || "FriendlyErrorMessage" in wire) return undefined
  return to
}

const readContact = (wire: unknown): ContactRecord | undefined => {
  if (!isPlain<typeof ContactRecord.Encoded>(wire)) return undefined
  const email = wire.Email
  if (typeof email !== "string") return undefined
  const to: Writable<ContactRecord> = { email }
  const status = wire.Status
  if (isOpen(status)) to.status = status
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
  const source = wire.Source
  if (isOpen(source)) to.source = source
  else if (source !== undefined || "Source" in wire) return undefined
  const dateAdded = readDate(wire.DateAdded)
  if (dateAdded !== undefined) to.dateAdded = dateAdded
  else if ("DateAdded" in wire) return undefined
  const dateUpdated = wire.DateUpdated === null ? null : readDate(wire.DateUpdated)
  if (dateUpdated !== undefined) to.dateUpdated = dateUpdated
  else if ("DateUpdated" in wire) return undefined
  const statusChangeDate = wire.StatusChangeDate === null ? null : readDate(wire.StatusChangeDate)
  if (statusChangeDate !== undefined) to.statusChangeDate = statusChangeDate
  else if ("StatusChangeDate" in wire) return undefined
  const activity = readActivity(wire.Activity)
  if (activity !== undefined) to.activity = activity
  else if ("Activity" in wire) return undefined
  return to
}

type PayloadConsent = NonNullable<PayloadRecord["consent"]>
type PayloadWire = typeof PayloadRecord.Encoded
type PayloadWireConsent = NonNullable<PayloadWire["Consent"]>

const isEmailAddress = (value: unknown): value is EmailAddress =>
  typeof value === "string" && emailAddressIssue(value) === undefined

const isOneOf = <A>(values: ReadonlyArray<A>): ((value: unknown) => value is A) => {
  const known = new Set<unknown>(values)
  return (value): value is A => known.has(value)
}

const isStatus = isOneOf(ContactStatus.literals)
const isTracking = isOneOf(ConsentTracking.literals)

const readPayloadConsent = (wire: unknown): PayloadConsent | undefined => {
  if (!isPlain<PayloadWireConsent>(wire)) return undefined
  const to: Writable<PayloadConsent> = {}
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

const readPayload = (wire: unknown): PayloadRecord | undefined => {
  if (!isPlain<PayloadWire>(wire)) return undefined
  const email = wire.Email
  if (!isEmailAddress(email)) return undefined
  const to: Writable<PayloadRecord> = { email }
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
  const consent = readPayloadConsent(wire.Consent)
  if (consent !== undefined) to.consent = consent
  else if (wire.Consent !== null && "Consent" in wire) return undefined
  return to
}

// Each of these gives `undefined` for what is not plain, which `whole` finds then.

const text = (value: unknown) => (typeof value === "string" ? value : undefined)
const texts = (value: unknown) => (areTexts(value) ? { ...value } : undefined)
const count = (value: unknown) => (isCount(value) ? value : undefined)
const date = (value: unknown) => (isInstant(value) ? formatWireDate(value) : undefined)
const dateOrNull = (value: unknown) => (value === null ? null : date(value))

/** Whether no field is undefined. A field that is missing is no field. */
const isWhole = (value: { readonly [name: string]: unknown }): boolean => {
  for (const name in value) if (value[name] === undefined) return false
  return true
}

const whole = <A extends { readonly [name: string]: unknown }>(value: A): A | undefined =>
  isWhole(value) ? value : undefined

const writeConsent = (value: unknown) => {
  if (!isPlain<Consent>(value) || !isWhole(value)) return undefined
  const to: Writable<Fields<typeof Consent.Encoded>> = {}
  if (value.ip !== undefined) to.ConsentIP = text(value.ip)
  if (value.date !== undefined) to.ConsentDate = dateOrNull(value.date)
  if (value.tracking !== undefined) to.ConsentTracking = text(value.tracking)
  return whole(to)
}

const writeActivity = (value: unknown) => {
  if (!isPlain<ContactActivity>(value) || !isWhole(value)) return undefined
  const to: Writable<Fields<typeof ContactActivity.Encoded>> = {}
  if (value.totalSent !== undefined) to.TotalSent = count(value.totalSent)
  if (value.totalOpened !== undefined) to.TotalOpened = count(value.totalOpened)
  if (value.totalClicked !== undefined) to.TotalClicked = count(value.totalClicked)
  if (value.totalFailed !== undefined) to.TotalFailed = count(value.totalFailed)
  if (value.lastSent !== undefined) to.LastSent = dateOrNull(value.lastSent)
  if (value.lastOpened !== undefined) to.LastOpened = dateOrNull(value.lastOpened)
  if (value.lastClicked !== undefined) to.LastClicked = dateOrNull(value.lastClicked)
  if (value.lastFailed !== undefined) to.LastFailed = dateOrNull(value.lastFailed)
  if (value.lastIP !== undefined) to.LastIP = text(value.lastIP)
  if (value.errorCode !== undefined) to.ErrorCode = value.errorCode === null ? null : count(value.errorCode)
  if (value.friendlyErrorMessage !== undefined) to.FriendlyErrorMessage = text(value.friendlyErrorMessage)
  return whole(to)
}

const writeContact = (value: unknown) => {
  if (!isPlain<ContactRecord>(value) || !isWhole(value)) return undefined
  const to: Writable<Fields<typeof ContactRecord.Encoded>> = { Email: text(value.email) }
  if (value.status !== undefined) to.Status = text(value.status)
  if (value.firstName !== undefined) to.FirstName = text(value.firstName)
  if (value.lastName !== undefined) to.LastName = text(value.lastName)
  if (value.customFields !== undefined) to.CustomFields = texts(value.customFields)
  if (value.consent !== undefined) to.Consent = writeConsent(value.consent)
  if (value.source !== undefined) to.Source = text(value.source)
  if (value.dateAdded !== undefined) to.DateAdded = date(value.dateAdded)
  if (value.dateUpdated !== undefined) to.DateUpdated = dateOrNull(value.dateUpdated)
  if (value.statusChangeDate !== undefined) to.StatusChangeDate = dateOrNull(value.statusChangeDate)
  if (value.activity !== undefined) to.Activity = writeActivity(value.activity)
  return whole(to)
}

const writePayloadConsent = (value: unknown) => {
  if (!isPlain<PayloadConsent>(value)) return undefined
  const to: Writable<Fields<PayloadWireConsent>> = {}
  if (value.ip !== undefined) to.ConsentIP = text(value.ip)
  if (value.date !== undefined) to.ConsentDate = dateOrNull(value.date)
  if (value.tracking !== undefined) to.ConsentTracking = isTracking(value.tracking) ? value.tracking : undefined
  return whole(to)
}

const writePayload = (value: unknown) => {
  if (!isPlain<PayloadRecord>(value)) return undefined
  const to: Writable<Fields<PayloadWire>> = { Email: isEmailAddress(value.email) ? value.email : undefined }
  if (value.status !== undefined) to.Status = isStatus(value.status) ? value.status : undefined
  if (value.firstName !== undefined) to.FirstName = text(value.firstName)
  if (value.lastName !== undefined) to.LastName = text(value.lastName)
  if (value.customFields !== undefined) to.CustomFields = texts(value.customFields)
  if (value.consent !== undefined) to.Consent = writePayloadConsent(value.consent)
  return whole(to)
}

/** Both directions, each of which gives `undefined` for what it leaves to the schema. */
interface FastCodec {
  readonly decode: (wire: unknown) => unknown
  readonly encode: (value: unknown) => unknown
}

/** The fast path of `Contact`. */
export const contactCodec: FastCodec = { decode: readContact, encode: writeContact }

/** The fast path of `ContactPayload`. */
export const payloadCodec: FastCodec = { decode: readPayload, encode: writePayload }

/** Options other than the usual ones are left to the schema. */
const isUsual = ({ disableChecks, onExcessProperty }: SchemaAST.ParseOptions): boolean =>
  disableChecks !== true && onExcessProperty !== "error"

const attempt =
  (fast: FastCodec["decode"]) =>
  (value: unknown, options: SchemaAST.ParseOptions): unknown =>
    isUsual(options) ? (fast(value) ?? SchemaCompiler.invalid) : SchemaCompiler.invalid

/** A copy of a schema that tries the fast path first, in whichever schema it stands. */
export const withFastCodec = <S extends Schema.Codec<unknown, unknown>>(exact: S, { decode, encode }: FastCodec) => {
  const schema = exact.annotate({})
  SchemaCompiler.set(schema.ast, {
    decode: attempt(decode),
    decodeEffect: SchemaParser.decodeUnknownEffect(exact)
  })
  SchemaCompiler.set(SchemaAST.flip(schema.ast), {
    decode: attempt(encode),
    decodeEffect: SchemaParser.encodeUnknownEffect(exact)
  })
  return schema
}
