/**
 * Fast path: decodes and encodes ordinary contacts in a tenth of the schema's time. Everything else is left to the schema;
 * a property test proves that both agree. Each field is named where it is read: a table of fields costs 19 % of the CPU
 * time of `contacts list --all`. (Claims `decode` and `stream` of benchmarks/RESULTS.md)
 */
import { Predicate, type Schema, SchemaAST, SchemaParser } from "effect"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import { type EmailAddress, emailAddressIssue } from "./EmailAddress.ts"
import type { UnknownValue } from "../values/OpenLiterals.ts"
import { isInstant } from "../values/FastWireDate.ts"
import { formatWireDate, parseWireDate } from "../values/WireDate.ts"
import {
  Consent,
  ConsentTracking,
  type ContactActivity,
  type ContactRecord,
  ContactStatus,
  PayloadRecord
} from "./ContactRecord.ts"

type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** The names of a record with unknown values. */
type Fields<A> = { readonly [K in keyof A]?: unknown }

/** Thrown when a value is left to the schema; one instance, since making stacks is slow. */
const notPlain = new Error("This value is left to the schema.")

const refuse = (): never => {
  throw notPlain
}

/** Excludes objects with getters or inherited names. */
const isPlain = <A extends object>(value: unknown): value is Fields<A> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Whether a record has no undefined properties, and none but these names, where they are given. */
const isWhole = (value: { readonly [name: string]: unknown }, names?: ReadonlySet<string>): boolean => {
  for (const name in value) if (value[name] === undefined || names?.has(name) === false) return false
  return true
}
/** Records that are not whole are left to the schema. */
const plain = <A extends object>(value: unknown, names?: ReadonlySet<string>): Fields<A> =>
  isPlain<A>(value) && isWhole(value, names) ? value : refuse()

const payloadNames = new Set(Object.keys(PayloadRecord.to.fields))
const consentNames = new Set(Object.keys(Consent.to.fields))

const areTexts = (value: unknown): value is { readonly [name: string]: string } => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value)) return false
  for (const name in value) if (typeof value[name] !== "string") return false
  return true
}
/** An open list accepts every text, known or unknown. */
const isOpen = (value: unknown): value is UnknownValue => typeof value === "string"
const isAddress = (value: unknown): value is EmailAddress =>
  typeof value === "string" && emailAddressIssue(value) === undefined

// Each of these gives the value of a field, or throws `notPlain`.

const text = (value: unknown): string => (typeof value === "string" ? value : refuse())
const texts = (value: unknown) => (areTexts(value) ? { ...value } : refuse())
const open = (value: unknown): UnknownValue => (isOpen(value) ? value : refuse())
const count = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) ? value : refuse())
const countOrNull = (value: unknown) => (value === null ? null : count(value))
const readDate = (value: unknown) => parseWireDate(text(value)) ?? refuse()
const readDateOrNull = (value: unknown) => (value === null ? null : readDate(value))
const writeDate = (value: unknown) => (isInstant(value) ? formatWireDate(value) : refuse())
const writeDateOrNull = (value: unknown) => (value === null ? null : writeDate(value))
const emailAddress = (value: unknown): EmailAddress => (isAddress(value) ? value : refuse())
const oneOf = <A extends string>(values: ReadonlyArray<A>) => {
  const known = new Map<unknown, A>(values.map((value) => [value, value]))
  return (value: unknown): A => known.get(value) ?? refuse()
}
const status = oneOf(ContactStatus.literals)
const tracking = oneOf(ConsentTracking.literals)

const readConsent = (wire: unknown) => {
  const from = plain<typeof Consent.Encoded>(wire)
  const to: Writable<Consent> = {}
  if (from.ConsentIP !== undefined) to.ip = text(from.ConsentIP)
  if (from.ConsentDate !== undefined) to.date = readDateOrNull(from.ConsentDate)
  if (from.ConsentTracking !== undefined) to.tracking = open(from.ConsentTracking)
  return to
}

const readActivity = (wire: unknown) => {
  const from = plain<typeof ContactActivity.Encoded>(wire)
  const to: Writable<ContactActivity> = {}
  if (from.TotalSent !== undefined) to.totalSent = count(from.TotalSent)
  if (from.TotalOpened !== undefined) to.totalOpened = count(from.TotalOpened)
  if (from.TotalClicked !== undefined) to.totalClicked = count(from.TotalClicked)
  if (from.TotalFailed !== undefined) to.totalFailed = count(from.TotalFailed)
  if (from.LastSent !== undefined) to.lastSent = readDateOrNull(from.LastSent)
  if (from.LastOpened !== undefined) to.lastOpened = readDateOrNull(from.LastOpened)
  if (from.LastClicked !== undefined) to.lastClicked = readDateOrNull(from.LastClicked)
  if (from.LastFailed !== undefined) to.lastFailed = readDateOrNull(from.LastFailed)
  if (from.LastIP !== undefined) to.lastIP = text(from.LastIP)
  if (from.ErrorCode !== undefined) to.errorCode = countOrNull(from.ErrorCode)
  if (from.FriendlyErrorMessage !== undefined) to.friendlyErrorMessage = text(from.FriendlyErrorMessage)
  return to
}

const readContact = (wire: unknown) => {
  const from = plain<typeof ContactRecord.Encoded>(wire)
  const to: Writable<ContactRecord> = { email: text(from.Email) }
  if (from.Status !== undefined) to.status = open(from.Status)
  if (from.FirstName !== undefined) to.firstName = text(from.FirstName)
  if (from.LastName !== undefined) to.lastName = text(from.LastName)
  if (from.CustomFields !== undefined) to.customFields = texts(from.CustomFields)
  if (from.Consent !== undefined) to.consent = readConsent(from.Consent)
  if (from.Source !== undefined) to.source = open(from.Source)
  if (from.DateAdded !== undefined) to.dateAdded = readDate(from.DateAdded)
  if (from.DateUpdated !== undefined) to.dateUpdated = readDateOrNull(from.DateUpdated)
  if (from.StatusChangeDate !== undefined) to.statusChangeDate = readDateOrNull(from.StatusChangeDate)
  if (from.Activity !== undefined) to.activity = readActivity(from.Activity)
  return to
}

type PayloadConsent = NonNullable<PayloadRecord["consent"]>
type PayloadWire = typeof PayloadRecord.Encoded
type PayloadWireConsent = NonNullable<PayloadWire["Consent"]>

const readPayloadConsent = (wire: unknown) => {
  const from = plain<PayloadWireConsent>(wire)
  const to: Writable<PayloadConsent> = {}
  if (Predicate.isNotNullish(from.ConsentIP)) to.ip = text(from.ConsentIP)
  if (from.ConsentDate !== undefined) to.date = readDateOrNull(from.ConsentDate)
  if (Predicate.isNotNullish(from.ConsentTracking)) to.tracking = tracking(from.ConsentTracking)
  return to
}

const readPayload = (wire: unknown) => {
  const from = plain<PayloadWire>(wire)
  const to: Writable<PayloadRecord> = { email: emailAddress(from.Email) }
  if (Predicate.isNotNullish(from.Status)) to.status = status(from.Status)
  if (Predicate.isNotNullish(from.FirstName)) to.firstName = text(from.FirstName)
  if (Predicate.isNotNullish(from.LastName)) to.lastName = text(from.LastName)
  if (Predicate.isNotNullish(from.CustomFields)) to.customFields = texts(from.CustomFields)
  if (Predicate.isNotNullish(from.Consent)) to.consent = readPayloadConsent(from.Consent)
  return to
}

const writeConsent = (value: unknown) => {
  const from = plain<Consent>(value)
  const to: Writable<typeof Consent.Encoded> = {}
  if (from.ip !== undefined) to.ConsentIP = text(from.ip)
  if (from.date !== undefined) to.ConsentDate = writeDateOrNull(from.date)
  if (from.tracking !== undefined) to.ConsentTracking = text(from.tracking)
  return to
}

const writeActivity = (value: unknown) => {
  const from = plain<ContactActivity>(value)
  const to: Writable<typeof ContactActivity.Encoded> = {}
  if (from.totalSent !== undefined) to.TotalSent = count(from.totalSent)
  if (from.totalOpened !== undefined) to.TotalOpened = count(from.totalOpened)
  if (from.totalClicked !== undefined) to.TotalClicked = count(from.totalClicked)
  if (from.totalFailed !== undefined) to.TotalFailed = count(from.totalFailed)
  if (from.lastSent !== undefined) to.LastSent = writeDateOrNull(from.lastSent)
  if (from.lastOpened !== undefined) to.LastOpened = writeDateOrNull(from.lastOpened)
  if (from.lastClicked !== undefined) to.LastClicked = writeDateOrNull(from.lastClicked)
  if (from.lastFailed !== undefined) to.LastFailed = writeDateOrNull(from.lastFailed)
  if (from.lastIP !== undefined) to.LastIP = text(from.lastIP)
  if (from.errorCode !== undefined) to.ErrorCode = countOrNull(from.errorCode)
  if (from.friendlyErrorMessage !== undefined) to.FriendlyErrorMessage = text(from.friendlyErrorMessage)
  return to
}

const writeContact = (value: unknown) => {
  const from = plain<ContactRecord>(value)
  const to: Writable<typeof ContactRecord.Encoded> = { Email: text(from.email) }
  if (from.status !== undefined) to.Status = text(from.status)
  if (from.firstName !== undefined) to.FirstName = text(from.firstName)
  if (from.lastName !== undefined) to.LastName = text(from.lastName)
  if (from.customFields !== undefined) to.CustomFields = texts(from.customFields)
  if (from.consent !== undefined) to.Consent = writeConsent(from.consent)
  if (from.source !== undefined) to.Source = text(from.source)
  if (from.dateAdded !== undefined) to.DateAdded = writeDate(from.dateAdded)
  if (from.dateUpdated !== undefined) to.DateUpdated = writeDateOrNull(from.dateUpdated)
  if (from.statusChangeDate !== undefined) to.StatusChangeDate = writeDateOrNull(from.statusChangeDate)
  if (from.activity !== undefined) to.Activity = writeActivity(from.activity)
  return to
}

const writePayloadConsent = (value: unknown) => {
  const from = plain<PayloadConsent>(value, consentNames)
  const to: Writable<PayloadWireConsent> = {}
  if (from.ip !== undefined) to.ConsentIP = text(from.ip)
  if (from.date !== undefined) to.ConsentDate = writeDateOrNull(from.date)
  if (from.tracking !== undefined) to.ConsentTracking = tracking(from.tracking)
  return to
}

const writePayload = (value: unknown) => {
  const from = plain<PayloadRecord>(value, payloadNames)
  const to: Writable<PayloadWire> = { Email: emailAddress(from.email) }
  if (from.status !== undefined) to.Status = status(from.status)
  if (from.firstName !== undefined) to.FirstName = text(from.firstName)
  if (from.lastName !== undefined) to.LastName = text(from.lastName)
  if (from.customFields !== undefined) to.CustomFields = texts(from.customFields)
  if (from.consent !== undefined) to.Consent = writePayloadConsent(from.consent)
  return to
}

/** Functions that throw `notPlain` for values that they leave to the schema. */
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
  (value: unknown, options: SchemaAST.ParseOptions): unknown => {
    if (!isUsual(options)) return SchemaCompiler.invalid
    try {
      return fast(value)
    } catch (error) {
      if (error === notPlain) return SchemaCompiler.invalid
      throw error
    }
  }

/** A copy of a schema that tries the fast path first, also inside other schemas. */
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
