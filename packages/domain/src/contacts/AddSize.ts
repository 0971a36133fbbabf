/** The bounds on what the contacts and lists of one add have together, the same on every layer. (docs/limits.md) */
import { Effect, Result, Schema } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { ContactPayload } from "./Contact.ts"
import { mostBytes } from "./ContactSize.ts"

/** The maximum size of the contacts of one add in bytes: as the JSON array in UTF-8 that a request holds. */
export const maximumAddBytes = 8 * 1024 * 1024

/** The maximum number of lists of an account. */
export const maximumLists = 1000

/** The maximum number of lists that a contact is on. */
export const maximumListsOfContact = 100

/** Whether a contact would be on too many lists. One that is on more already may be put on no further one. */
export const exceedsLists = (before: number, after: number): boolean => after > maximumListsOfContact && after > before

/** The maximum length of the name of a list, in UTF-16 units. */
export const maximumListName = 254

/** The maximum number of places on lists in one call: contacts times lists in an add, the lists that changes name. */
export const maximumPlaces = 10_000

const utf8 = new TextEncoder()
const encode = Schema.encodeUnknownResult(ContactPayload)

/** The bytes of a contact in the array; 0 for one that another check refuses. */
const bytesOf = (contact: ContactPayload): number =>
  Result.match(encode(contact), {
    onFailure: () => 0,
    onSuccess: (wire) => utf8.encode(JSON.stringify(wire)).length + 1
  })

/** Whether contacts are more than one add takes. Makes their JSON only if they might be. */
export const exceedsAdd = (contacts: Iterable<ContactPayload>): boolean => {
  let most = 0
  for (const contact of contacts) most += mostBytes(contact ?? {})
  if (most <= maximumAddBytes) return false
  let bytes = 1
  for (const contact of contacts) if ((bytes += bytesOf(contact)) > maximumAddBytes) return true
  return false
}

const listsOf = (names: ReadonlyArray<string> = []): number => new Set(names).size

/** Whether contacts and lists are more places than one add gives. */
export const exceedsPlaces = ({ length }: { readonly length: number }, listNames?: ReadonlyArray<string>): boolean =>
  length * listsOf(listNames) > maximumPlaces

/** Refuses more lists than a contact can be on, and more places on lists than one add gives. */
export const checkPlaces = (
  contacts: { readonly length: number },
  listNames?: ReadonlyArray<string>
): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => {
    const refuse = (issue: string) => Effect.fail(new InvalidInput({ field: "listNames", issue }))
    if (listsOf(listNames) > maximumListsOfContact) {
      return refuse(`${listsOf(listNames)} lists, but a contact is on at most ${maximumListsOfContact}`)
    }
    return exceedsPlaces(contacts, listNames)
      ? refuse(
          `${contacts.length} contacts on ${listsOf(listNames)} lists are more than the ${maximumPlaces} places that ` +
            "one add gives; add fewer contacts at one time"
        )
      : Effect.void
  })

/** Refuses contacts that are more than one add takes. */
export const checkAddSize = (contacts: Iterable<ContactPayload>): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() =>
    exceedsAdd(contacts)
      ? Effect.fail(
          new InvalidInput({
            field: "body",
            issue:
              `the contacts of one add have at most ${maximumAddBytes / 1024 / 1024} MiB as JSON; add them in ` +
              "parts, or import them as a file"
          })
        )
      : Effect.void
  )
