/**
 * Conditional changes of contacts: each names what was seen of its contact, and is carried out only where that still holds
 * or where the contact already is what the change makes of it. (docs/decisions/changes.md)
 */
import { Effect, Schema } from "effect"
import { explained } from "../errors/Constructors.ts"
import { InvalidInput, invalidInput } from "../errors/InvalidInput.ts"
import { inputText, requestField } from "../values/OptionalField.ts"
import { WireDate } from "../values/WireDate.ts"
import { payloadRecord, wireRecord, type Named } from "../values/WireRecord.ts"
import { maximumAddBytes, maximumPlaces } from "./AddSize.ts"
import { changeCodec } from "./ContactCodec.ts"
import { Contact, type ContactPayload, TooManyContacts } from "./Contact.ts"
import { type Content, contentAfter, ContactContent, ContactWrite, sameContent } from "./ContactWrite.ts"
import { EmailAddress } from "./EmailAddress.ts"
import { withFastCodec } from "./FastContactCodec.ts"

/** The maximum number of changes in one call, which together have at most 8 MiB as JSON. */
export const maximumChanges = 1000

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
export class ContactChange extends Schema.Opaque<ContactChange>()(
  explained(withFastCodec(ChangeRecord, changeCodec))
) {}

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
  const json = new TextEncoder().encode(JSON.stringify(wire))
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

const dated = {
  /**
   * The date of the status that the change gives the contact; left out by a service that tells none. Of a new contact it is the
   * date of its adding, told only if it gets no mail.
   */
  statusChangeDate: Schema.optionalKey(WireDate)
}

/** The answer to a change. */
export const ChangeAnswer = Schema.TaggedUnion({
  /** The contact was as it was seen, and is changed. */
  Done: { ...exact, ...dated },
  /** The contact already was as the change would make it, so the service did nothing. */
  AlreadySo: { ...exact, ...dated },
  /** The contact is neither as it was seen nor as the change would make it, and stays as it is. */
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
export class ChangeAnswerRecord extends Schema.Opaque<ChangeAnswerRecord>()(
  wireRecord({
    /** What became of the change, as the tags of `ChangeAnswer`. */
    result: Schema.Literals(["Done", "AlreadySo", "Outdated"]),
    /** The contact as it is now, of an outdated change; `null` if there is none. */
    contact: Schema.optionalKey(Schema.NullOr(Contact)),
    /** The names of its lists, of an outdated change, in alphabetical order. */
    lists: Schema.optionalKey(Schema.Array(Schema.String)),
    /** The date of the status that the change gives, unless it is outdated or gives none. */
    ...dated
  }).annotate({ identifier: "ChangeAnswer" })
) {}

/** The answer of a service that compared and changed the contact in one step. */
export const exactAnswer = ({ result: _tag, statusChangeDate, ...rest }: ChangeAnswerRecord): ChangeAnswer =>
  _tag === "Outdated"
    ? { _tag, exact: true, ...rest }
    : { _tag, exact: true, ...(statusChangeDate === undefined ? {} : { statusChangeDate }) }

/**
 * What a change does to its contact as it is now, and what the contact is after it. Contents do not have the lists of a
 * contact, so the caller says whether they are as the change makes them.
 */
export const judgeChange = (
  now: ContactContent | null,
  { seen, write }: Pick<ContactChange, "seen" | "write">,
  areListsSo: boolean
): { readonly result: ChangeAnswer["_tag"]; readonly after: Content | null } => {
  const after = write === undefined ? null : contentAfter(seen, write)
  const isSo = sameContent(now, after)
  return { result: isSo && areListsSo ? "AlreadySo" : isSo || sameContent(now, seen) ? "Done" : "Outdated", after }
}

/** An empty text removes a custom field, and is the nearest to no name. */
const orEmpty = (text: string | null | undefined): string | undefined => (text === null ? "" : text)

/** The contact of an add that writes the same, at a service that compares nothing. */
export const payloadOfChange = ({ email, write = {} }: ContactChange): ContactPayload => {
  const { consent, customFields, firstName, lastName, status } = write
  return {
    email,
    status,
    firstName: orEmpty(firstName),
    lastName: orEmpty(lastName),
    customFields:
      customFields && Object.fromEntries(Object.entries(customFields).map(([name, text]) => [name, text ?? ""])),
    consent:
      consent == null ? undefined : { ...consent, ip: consent.ip ?? undefined, tracking: consent.tracking ?? undefined }
  }
}
