/** Checks contacts before they are stored: addresses, texts and sizes. */
import {
  ListsText,
  type ContactChange,
  type ContactPayload,
  type ContactUpdatePayload,
  emailAddressIssue,
  InvalidInput,
  maximumChanges,
  maximumListName,
  maximumLists,
  TooManyContacts
} from "@roster/domain"
import { contactRefusal, isAddressable, notAddressable } from "@roster/domain/internal"
import { Effect } from "effect"
import { inSlices } from "../threads/Slices.ts"

const refusalOf = (field: string, issue: string | undefined): InvalidInput | undefined =>
  issue === undefined ? undefined : new InvalidInput({ field, issue })

const orPass = (refusal: InvalidInput | undefined): Effect.Effect<void, InvalidInput> =>
  refusal === undefined ? Effect.void : Effect.fail(refusal)

export const checkTexts = (contact: ContactPayload | ContactUpdatePayload): Effect.Effect<void, InvalidInput> =>
  orPass(contactRefusal(contact))

const emailRefusal = (field: string, email: string): InvalidInput | undefined => {
  const issue = typeof email === "string" ? emailAddressIssue(email.trim()) : "an e-mail address is a text"
  // A client could not have put it into a path.
  return issue === undefined || isAddressable(email) ? refusalOf(field, issue) : notAddressable(field)
}

/** Checks an address that identifies contacts. */
export const checkEmail = (field: string, email: string): Effect.Effect<void, InvalidInput> =>
  orPass(emailRefusal(field, email))

/** The first refusal of many checks, between which others are answered. */
const firstRefusal = <A>(items: ReadonlyArray<A>, check: (item: A, index: number) => InvalidInput | undefined) =>
  Effect.flatMap(
    inSlices(function* () {
      for (const [index, item] of items.entries()) {
        const refusal = check(item, index)
        if (refusal !== undefined) return refusal
        yield
      }
      return undefined
    }),
    orPass
  )

/** Checks many such addresses. */
export const checkEmails = (field: string, emails: ReadonlyArray<string>): Effect.Effect<void, InvalidInput> =>
  firstRefusal(emails, (email, index) => emailRefusal(`${field}[${index}]`, email))

/** What a change gives, as an add would. */
export const writtenOf = ({ email, write = {} }: Pick<ContactChange, "email" | "write">): ContactPayload => {
  const { consent, customFields = {}, firstName, lastName } = write
  return {
    email,
    firstName: firstName ?? undefined,
    lastName: lastName ?? undefined,
    // What removes a field is as large as its name.
    customFields: Object.fromEntries(Object.entries(customFields).map(([name, value]) => [name, value ?? ""])),
    consent: { ip: consent?.ip ?? undefined }
  }
}

const listNamesRefusal = (
  field: string,
  names: ReadonlyArray<string> = [],
  most?: number
): InvalidInput | undefined => {
  if (!Array.isArray(names)) return refusalOf(field, "it is no list of texts")
  for (const name of names) {
    const issue = ListsText.listNameIssue(name, most)
    if (issue !== undefined) return refusalOf(field, `the name of a list: ${issue}`)
  }
  return undefined
}

/** The refusal of names of lists that may be new. */
const newListNamesRefusal = (field: string, names: ReadonlyArray<string> = []): InvalidInput | undefined =>
  listNamesRefusal(field, names, maximumListName)

/** Checks the names of lists, which may be new. */
export const checkListNames = (field: string, names: ReadonlyArray<string>): Effect.Effect<void, InvalidInput> =>
  orPass(newListNamesRefusal(field, names))

/** Checks the number of changes in a call. */
export const checkChangeCount = ({ length: count }: ReadonlyArray<ContactChange>) =>
  count <= maximumChanges ? Effect.void : Effect.fail(new TooManyContacts({ count, maximum: maximumChanges }))

/** Checks the texts and lists of changes; the refusal names the index of the first invalid one. */
export const checkChanges = (changes: ReadonlyArray<ContactChange>): Effect.Effect<void, InvalidInput> => {
  const lists = new Set<string>()
  return firstRefusal(changes, (change, index) => {
    const { addToLists = [], removeFromLists = [] } = change.write ?? {}
    const [path, added] = [`[${index}].write.`, new Set(addToLists)]
    const refuse = (issue: string) => new InvalidInput({ field: `${path}removeFromLists`, issue })
    for (const name of [...addToLists, ...removeFromLists]) lists.add(name)
    return (
      contactRefusal(writtenOf(change), path) ??
      newListNamesRefusal(`${path}addToLists`, addToLists) ??
      listNamesRefusal(`${path}removeFromLists`, removeFromLists) ??
      (removeFromLists.some((name) => added.has(name))
        ? refuse("a contact is either put on a list or taken off it")
        : lists.size > maximumLists
          ? refuse(`the changes of one call name at most ${maximumLists} lists`)
          : undefined)
    )
  })
}

/** Checks the texts of contacts to add; the refusal names the index of the first invalid one. */
export const checkContacts = (contacts: ReadonlyArray<ContactPayload>): Effect.Effect<void, InvalidInput> =>
  firstRefusal(contacts, (contact, index) => contactRefusal(contact, `[${index}].`))

/** What was made of each contact; fails with the first refusal among them. */
export const orRefusal = <A>(made: ReadonlyArray<A | InvalidInput>): Effect.Effect<ReadonlyArray<A>, InvalidInput> =>
  Effect.suspend(() => {
    const accepted: Array<A> = []
    for (const one of made) {
      if (one instanceof InvalidInput) return Effect.fail(one)
      accepted.push(one)
    }
    return Effect.succeed(accepted)
  })
