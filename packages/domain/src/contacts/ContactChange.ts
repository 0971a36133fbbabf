/**
 * Conditional changes of contacts: each names what was seen of its contact, and is carried out only where that still holds
 * or where the contact already is what the change makes of it. (docs/decisions/changes.md)
 */
import { DateTime, Effect, Schema, type Types } from "effect"
import { explained } from "../errors/Constructors.ts"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { encoded } from "../values/JsonBuffer.ts"
import { inputText, nullableRequestField, requestField } from "../values/OptionalField.ts"
import { GivenDate } from "../values/WireDate.ts"
import { openLiterals, payloadRecord, wireRecord, type Named } from "../values/WireRecord.ts"
import { maximumAddBytes, maximumPlaces } from "./AddSize.ts"
import { Contact, TooManyContacts } from "./Contact.ts"
import {
  Consent,
  ConsentTracking,
  ContactRecord,
  ContactStatus,
  CustomFields,
  fewNames,
  mergedFields,
  withUniqueNames
} from "./ContactRecord.ts"
import { EmailAddress } from "./EmailAddress.ts"
import { changeCodec } from "./FastChangeCodec.ts"
import { withFastCodec } from "./FastContactCodec.ts"
import { byFoldedName, foldName } from "../values/FieldNames.ts"
import { statusKept } from "./Resubscription.ts"

/** The maximum number of changes in one call, which together have at most 8 MiB as JSON. */
export const maximumChanges = 1000

/**
 * What a change compares of a contact: no dates but that of the consent, no source, activity or lists. A `Contact` that
 * was read is one as it is.
 */
export const ContactContent = explained(
  payloadRecord(
    "the content of a contact",
    {
      /** Left out if the service does not tell. */
      status: requestField(openLiterals(ContactStatus)),
      /** The first name; left out or empty if there is none. */
      firstName: requestField(Schema.String),
      /** The last name; left out or empty if there is none. */
      lastName: requestField(Schema.String),
      /** The custom fields by name; those that are empty do not count. */
      customFields: requestField(withUniqueNames(CustomFields)),
      /** What the contact agreed to. */
      consent: requestField(Consent)
    },
    { alsoKnown: Object.keys(ContactRecord.to.fields) }
  ).annotate({ identifier: "ContactContent" })
)
export interface ContactContent extends Schema.Schema.Type<typeof ContactContent> {}

const nullableText = nullableRequestField(Schema.String)

/** What to write. A field that is left out stays as it is, and `null` removes one. */
export const ContactWrite = explained(
  payloadRecord("what to write", {
    /** A new contact is Active if none is given. */
    status: requestField(ContactStatus),
    /** The first name; `null` removes it. */
    firstName: nullableText,
    /** The last name; `null` removes it. */
    lastName: nullableText,
    /** Merged key by key; `null` or an empty text removes a field. */
    customFields: requestField(
      withUniqueNames(Schema.Record(Schema.String, Schema.NullOr(Schema.String)).check(fewNames))
    ),
    /** Merged field by field; `null` removes a field, and in place of the whole all of them. */
    consent: nullableRequestField(
      payloadRecord(
        "the consent of a contact",
        {
          ip: nullableText,
          date: nullableRequestField(GivenDate),
          tracking: nullableRequestField(ConsentTracking)
        },
        { others: { ip: "ConsentIP", date: "ConsentDate", tracking: "ConsentTracking" } }
      )
    ),
    /** Lists that the contact is put on; new ones are created. */
    addToLists: requestField(Schema.Array(Schema.String)),
    /** Lists that the contact is taken off. */
    removeFromLists: requestField(Schema.Array(Schema.String)),
    /** Whether a contact that gets no mail may be made one that does (default: false, and it keeps its status). */
    resubscribe: requestField(Schema.Boolean)
  }).annotate({ identifier: "ContactWrite" })
)
export interface ContactWrite extends Schema.Schema.Type<typeof ContactWrite> {}

/** The exact schema of `ContactChange`. */
const ChangeRecord = payloadRecord("a change", {
  /** The address of the contact. */
  email: inputText(EmailAddress),
  /** The content of the contact as it was read, or `null` if there was none. */
  seen: Schema.NullOr(ContactContent),
  /** What to write; a change has this or `delete`. */
  write: requestField(ContactWrite),
  /** `true` deletes the contact; a change has this or `write`. */
  delete: requestField(Schema.Literal(true))
})
  .check(
    Schema.makeFilter((change) =>
      (change.write === undefined) === (change.delete === undefined) ? "a change has either Write or Delete" : undefined
    )
  )
  .annotate({ identifier: "ContactChange" })

/** A change of one contact, which either writes or deletes it. */
export const ContactChange = explained(withFastCodec(ChangeRecord, changeCodec))
export interface ContactChange extends Schema.Schema.Type<typeof ContactChange> {}

const encodeAll = Schema.encodeUnknownEffect(Schema.Array(ContactChange))

/** Refuses changes that name more places on lists than one call gives and takes. */
export const checkChangedPlaces = (changes: ReadonlyArray<ContactChange>): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => {
    let places = 0
    for (const { write } of changes) {
      places += (write?.addToLists?.length ?? 0) + (write?.removeFromLists?.length ?? 0)
    }
    if (places <= maximumPlaces) return Effect.void
    const issue = `the changes of one call name at most ${maximumPlaces} places on lists; make them in parts`
    return Effect.fail(new InvalidInput({ field: "body", issue }))
  })

/** The JSON of the changes of one call, which every layer refuses alike. */
export const encodeChanges = Effect.fnUntraced(function* (
  changes: ReadonlyArray<ContactChange>
): Effect.fn.Return<Uint8Array, TooManyContacts | InvalidInput> {
  if (Array.isArray(changes) && changes.length > maximumChanges) {
    return yield* new TooManyContacts({ count: changes.length, maximum: maximumChanges })
  }
  const wire = yield* Effect.mapError(encodeAll(changes), (error) => invalidInput(error))
  yield* checkChangedPlaces(changes)
  const json = encoded(JSON.stringify(wire))
  if (json.length <= maximumAddBytes) return json
  const issue = `the changes of one call have at most ${maximumAddBytes / 1024 / 1024} MiB as JSON; make them in parts`
  return yield* new InvalidInput({ field: "body", issue })
})

const exact = {
  /**
   * Whether the service compared and changed the contact in one step. Where it cannot, the client read the contact first,
   * and a change by others in between goes unnoticed.
   */
  exact: Schema.Boolean
}

/** The answer to a change. */
export const ChangeAnswer = Schema.TaggedUnion({
  /** The contact was as it was seen, and is changed. */
  Done: exact,
  /** The contact already was what the change makes of it, so nothing was done. */
  AlreadySo: exact,
  /** The contact is neither, and stays as it is. */
  Outdated: {
    ...exact,
    /** The contact as it is now, or `null` if there is none; left out of a long answer. */
    contact: Schema.optionalKey(Schema.NullOr(Contact)),
    /** The lists that it is on, in alphabetical order, where the service shows them. */
    lists: Schema.optionalKey(Schema.Array(Schema.String))
  }
})
export type ChangeAnswer = Named<typeof ChangeAnswer.Type>

/** The answer on the wire, which is always an exact one. */
export const ChangeAnswerRecord = wireRecord({
  /** What became of the change, as the tags of `ChangeAnswer`. */
  result: Schema.Literals(["Done", "AlreadySo", "Outdated"]),
  /** The contact as it is now, of an outdated change; `null` if there is none. */
  contact: Schema.optionalKey(Schema.NullOr(Contact)),
  /** The names of its lists, of an outdated change, in alphabetical order. */
  lists: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "ChangeAnswer" })
export interface ChangeAnswerRecord extends Schema.Schema.Type<typeof ChangeAnswerRecord> {}

/** The answer of a service that compared and changed the contact in one step. */
export const exactAnswer = ({ result: _tag, ...rest }: ChangeAnswerRecord): ChangeAnswer =>
  _tag === "Outdated" ? { _tag, exact: true, ...rest } : { _tag, exact: true }

/** The content of a contact as it has it. */
type Content = Pick<Contact, keyof ContactContent>

/** Fields of which one that is null, undefined or empty has no value. */
type Loose<A> = { readonly [Name in keyof A]: A[Name] | null | undefined }

const isGiven = <A>(value: A | null | undefined): value is A => value != null && value !== ""

const contentIn = ({
  consent,
  customFields,
  firstName,
  lastName,
  status
}: Loose<Omit<ContactContent, "consent" | "customFields">> & {
  readonly customFields?: Loose<CustomFields> | undefined
  readonly consent?: Loose<Consent> | undefined
}): Content => {
  const content: Types.Mutable<Content> = {}
  if (isGiven(status)) content.status = status
  if (isGiven(firstName)) content.firstName = firstName
  if (isGiven(lastName)) content.lastName = lastName
  const texts = Object.entries(customFields ?? {}).flatMap(([name, text]) =>
    isGiven(text) ? [[name, text] as const] : []
  )
  if (texts.length > 0) content.customFields = Object.fromEntries(texts)
  const agreed: Types.Mutable<Consent> = {}
  if (isGiven(consent?.ip)) agreed.ip = consent.ip
  if (isGiven(consent?.date)) agreed.date = consent.date
  if (isGiven(consent?.tracking)) agreed.tracking = consent.tracking
  if (Object.keys(agreed).length > 0) content.consent = agreed
  return content
}

/** The content of a contact in one form: what has no value is left out, and so are an empty text and an empty record. */
export const contentOf: (contact: ContactContent) => Content = contentIn

const or = <A>(value: A | undefined, otherwise: A | undefined): A | undefined =>
  value === undefined ? otherwise : value

/** The content that a write makes of a contact, or of none. */
export const contentAfter = (before: ContactContent | null, write: ContactWrite): Content => {
  const { consent, resubscribe = false, status } = write
  const now = contentOf(before ?? { status: "Active" })
  const keepsStatus = !resubscribe && statusKept(before?.status, status) !== undefined
  const texts = Object.entries(write.customFields ?? {}).map(([name, value]) => [name, value ?? ""] as const)
  return contentIn({
    status: keepsStatus ? now.status : or(status, now.status),
    firstName: or(write.firstName, now.firstName),
    lastName: or(write.lastName, now.lastName),
    customFields: mergedFields(now.customFields ?? {}, Object.fromEntries(texts)),
    consent:
      consent === null
        ? undefined
        : {
            ip: or(consent?.ip, now.consent?.ip),
            date: or(consent?.date, now.consent?.date),
            tracking: or(consent?.tracking, now.consent?.tracking)
          }
  })
}

const sameTexts = (one: CustomFields = {}, other: CustomFields = {}): boolean => {
  const [texts, others] = [byFoldedName(one), byFoldedName(other)]
  return texts.size === others.size && Array.from(texts).every(([name, text]) => others.get(name) === text)
}

const secondsOf = (date: DateTime.Utc | null | undefined): number | undefined =>
  date == null ? undefined : Math.floor(DateTime.toEpochMillis(date) / 1000)

/** Whether two contents have the same values; dates are compared by the second. */
export const sameContent = (one: ContactContent | null, other: ContactContent | null): boolean => {
  if (one === null || other === null) return one === other
  const [a, b] = [contentOf(one), contentOf(other)]
  return (
    a.status === b.status &&
    a.firstName === b.firstName &&
    a.lastName === b.lastName &&
    sameTexts(a.customFields, b.customFields) &&
    a.consent?.ip === b.consent?.ip &&
    a.consent?.tracking === b.consent?.tracking &&
    secondsOf(a.consent?.date) === secondsOf(b.consent?.date)
  )
}

/**
 * What a change does to its contact as it is now, and what the contact is after it. Contents do not have the lists of a
 * contact, so the caller says whether they are as the change makes them.
 */
export const judgeChange = (
  now: ContactContent | null,
  { seen, write }: ContactChange,
  areListsSo: boolean
): { readonly result: ChangeAnswer["_tag"]; readonly after: Content | null } => {
  const after = write === undefined ? null : contentAfter(seen, write)
  const isSo = sameContent(now, after)
  return { result: isSo && areListsSo ? "AlreadySo" : isSo || sameContent(now, seen) ? "Done" : "Outdated", after }
}

type Lists = Pick<ContactWrite, "addToLists" | "removeFromLists">

/**
 * The lists of a contact after a change. The names of lists are equal as those of custom fields are, and one that the
 * contact is on keeps its spelling.
 */
export const listsAfter = (
  lists: Iterable<string>,
  { addToLists = [], removeFromLists = [] }: Lists = {}
): ReadonlyArray<string> => {
  const byName = new Map<string, string>()
  for (const name of [...lists, ...addToLists]) if (!byName.has(foldName(name))) byName.set(foldName(name), name)
  for (const name of removeFromLists) byName.delete(foldName(name))
  return [...byName.values()]
}

/** Whether the lists of a contact are as a change makes them. */
export const areListsSo = (lists: Iterable<string>, { addToLists = [], removeFromLists = [] }: Lists = {}): boolean => {
  if (addToLists.length + removeFromLists.length === 0) return true
  const names = new Set(Array.from(lists, foldName))
  return (
    addToLists.every((name) => names.has(foldName(name))) && !removeFromLists.some((name) => names.has(foldName(name)))
  )
}
