/**
 * Fast path: decodes and encodes ordinary contacts without the steps of the schema, which take ten times as long (claims
 * `decode` and `stream` of benchmarks/RESULTS.md). Everything else, and everything wrong, is left to the schema, which
 * reports it; a property test proves that both agree. Each field is named where it is read: a table of fields costs 19 % of
 * the CPU time of `contacts list --all`.
 */
import { Predicate, type Schema, SchemaAST, SchemaParser } from "effect"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import { emailAddressIssue } from "../values/EmailAddress.ts"
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

/** Whether no field is undefined, as it is where the value of a field is not plain. */
const isWhole = (value: { readonly [name: string]: unknown }): boolean => {
  for (const name in value) if (value[name] === undefined) return false
  return true
}

const whole = <A extends { readonly [name: string]: unknown }>(value: A): A | undefined =>
  isWhole(value) ? value : undefined

const areTexts = (value: unknown): value is { readonly [name: string]: string } => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value)) return false
  for (const name in value) if (typeof value[name] !== "string") return false
  return true
}

// Each of these gives the value of a field, or `undefined` for one that is not plain.

const text = (value: unknown) => (typeof value === "string" ? value : undefined)
const texts = (value: unknown) => (areTexts(value) ? { ...value } : undefined)
const count = (value: unknown) => (Number.isSafeInteger(value) ? value : undefined)
const countOrNull = (value: unknown) => (value === null ? null : count(value))
const readDate = (value: unknown) => (typeof value === "string" ? parseWireDate(value) : undefined)
const readDateOrNull = (value: unknown) => (value === null ? null : readDate(value))
const writeDate = (value: unknown) => (isInstant(value) ? formatWireDate(value) : undefined)
const writeDateOrNull = (value: unknown) => (value === null ? null : writeDate(value))
const emailAddress = (value: unknown) =>
  typeof value === "string" && emailAddressIssue(value) === undefined ? value : undefined

const oneOf = (values: ReadonlyArray<string>) => {
  const known = new Set<unknown>(values)
  return (value: unknown) => (known.has(value) ? value : undefined)
}
const status = oneOf(ContactStatus.literals)
const tracking = oneOf(ConsentTracking.literals)

const readConsent = (wire: unknown) => {
  if (!isPlain<typeof Consent.Encoded>(wire) || !isWhole(wire)) return undefined
  const to: Writable<Fields<Consent>> = {}
  if (wire.ConsentIP !== undefined) to.ip = text(wire.ConsentIP)
  if (wire.ConsentDate !== undefined) to.date = readDateOrNull(wire.ConsentDate)
  if (wire.ConsentTracking !== undefined) to.tracking = text(wire.ConsentTracking)
  return whole(to)
}

const readActivity = (wire: unknown) => {
  if (!isPlain<typeof ContactActivity.Encoded>(wire) || !isWhole(wire)) return undefined
  const to: Writable<Fields<ContactActivity>> = {}
  if (wire.TotalSent !== undefined) to.totalSent = count(wire.TotalSent)
  if (wire.TotalOpened !== undefined) to.totalOpened = count(wire.TotalOpened)
  if (wire.TotalClicked !== undefined) to.totalClicked = count(wire.TotalClicked)
  if (wire.TotalFailed !== undefined) to.totalFailed = count(wire.TotalFailed)
  if (wire.LastSent !== undefined) to.lastSent = readDateOrNull(wire.LastSent)
  if (wire.LastOpened !== undefined) to.lastOpened = readDateOrNull(wire.LastOpened)
  if (wire.LastClicked !== undefined) to.lastClicked = readDateOrNull(wire.LastClicked)
  if (wire.LastFailed !== undefined) to.lastFailed = readDateOrNull(wire.LastFailed)
  if (wire.LastIP !== undefined) to.lastIP = text(wire.LastIP)
  if (wire.ErrorCode !== undefined) to.errorCode = countOrNull(wire.ErrorCode)
  if (wire.FriendlyErrorMessage !== undefined) to.friendlyErrorMessage = text(wire.FriendlyErrorMessage)
  return whole(to)
}

const readContact = (wire: unknown) => {
  if (!isPlain<typeof ContactRecord.Encoded>(wire) || !isWhole(wire)) return undefined
  const to: Writable<Fields<ContactRecord>> = { email: text(wire.Email) }
  if (wire.Status !== undefined) to.status = text(wire.Status)
  if (wire.FirstName !== undefined) to.firstName = text(wire.FirstName)
  if (wire.LastName !== undefined) to.lastName = text(wire.LastName)
  if (wire.CustomFields !== undefined) to.customFields = texts(wire.CustomFields)
  if (wire.Consent !== undefined) to.consent = readConsent(wire.Consent)
  if (wire.Source !== undefined) to.source = text(wire.Source)
  if (wire.DateAdded !== undefined) to.dateAdded = readDate(wire.DateAdded)
  if (wire.DateUpdated !== undefined) to.dateUpdated = readDateOrNull(wire.DateUpdated)
  if (wire.StatusChangeDate !== undefined) to.statusChangeDate = readDateOrNull(wire.StatusChangeDate)
  if (wire.Activity !== undefined) to.activity = readActivity(wire.Activity)
  return whole(to)
}

type PayloadConsent = NonNullable<PayloadRecord["consent"]>
type PayloadWire = typeof PayloadRecord.Encoded
type PayloadWireConsent = NonNullable<PayloadWire["Consent"]>

const readPayloadConsent = (wire: unknown) => {
  if (!isPlain<PayloadWireConsent>(wire) || !isWhole(wire)) return undefined
  const to: Writable<Fields<PayloadConsent>> = {}
  if (Predicate.isNotNullish(wire.ConsentIP)) to.ip = text(wire.ConsentIP)
  if (wire.ConsentDate !== undefined) to.date = readDateOrNull(wire.ConsentDate)
  if (Predicate.isNotNullish(wire.ConsentTracking)) to.tracking = tracking(wire.ConsentTracking)
  return whole(to)
}

const readPayload = (wire: unknown) => {
  if (!isPlain<PayloadWire>(wire) || !isWhole(wire)) return undefined
  const to: Writable<Fields<PayloadRecord>> = { email: emailAddress(wire.Email) }
  if (Predicate.isNotNullish(wire.Status)) to.status = status(wire.Status)
  if (Predicate.isNotNullish(wire.FirstName)) to.firstName = text(wire.FirstName)
  if (Predicate.isNotNullish(wire.LastName)) to.lastName = text(wire.LastName)
  if (Predicate.isNotNullish(wire.CustomFields)) to.customFields = texts(wire.CustomFields)
  if (Predicate.isNotNullish(wire.Consent)) to.consent = readPayloadConsent(wire.Consent)
  return whole(to)
}

const writeConsent = (value: unknown) => {
  if (!isPlain<Consent>(value) || !isWhole(value)) return undefined
  const to: Writable<Fields<typeof Consent.Encoded>> = {}
  if (value.ip !== undefined) to.ConsentIP = text(value.ip)
  if (value.date !== undefined) to.ConsentDate = writeDateOrNull(value.date)
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
  if (value.lastSent !== undefined) to.LastSent = writeDateOrNull(value.lastSent)
  if (value.lastOpened !== undefined) to.LastOpened = writeDateOrNull(value.lastOpened)
  if (value.lastClicked !== undefined) to.LastClicked = writeDateOrNull(value.lastClicked)
  if (value.lastFailed !== undefined) to.LastFailed = writeDateOrNull(value.lastFailed)
  if (value.lastIP !== undefined) to.LastIP = text(value.lastIP)
  if (value.errorCode !== undefined) to.ErrorCode = countOrNull(value.errorCode)
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
  if (value.dateAdded !== undefined) to.DateAdded = writeDate(value.dateAdded)
  if (value.dateUpdated !== undefined) to.DateUpdated = writeDateOrNull(value.dateUpdated)
  if (value.statusChangeDate !== undefined) to.StatusChangeDate = writeDateOrNull(value.statusChangeDate)
  if (value.activity !== undefined) to.Activity = writeActivity(value.activity)
  return whole(to)
}

const writePayloadConsent = (value: unknown) => {
  if (!isPlain<PayloadConsent>(value)) return undefined
  const to: Writable<Fields<PayloadWireConsent>> = {}
  if (value.ip !== undefined) to.ConsentIP = text(value.ip)
  if (value.date !== undefined) to.ConsentDate = writeDateOrNull(value.date)
  if (value.tracking !== undefined) to.ConsentTracking = tracking(value.tracking)
  return whole(to)
}

const writePayload = (value: unknown) => {
  if (!isPlain<PayloadRecord>(value)) return undefined
  const to: Writable<Fields<PayloadWire>> = { Email: emailAddress(value.email) }
  if (value.status !== undefined) to.Status = status(value.status)
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
