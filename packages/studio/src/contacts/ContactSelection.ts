/** What a person does to contacts, and to which: those that were chosen, or all that a rule selects, as they are now. */
import {
  type Contact,
  ContactsService,
  type ContactStatus,
  type InvalidInput,
  type InvalidRule,
  maximumLookup,
  Rule,
  type ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { newListsAmong, type RosterCommand } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { Atom } from "effect/reactivity"

/** Which contacts are meant: some, or all that a rule selects. */
export type Meant =
  | { readonly _tag: "Chosen"; readonly emails: ReadonlySet<string> }
  | { readonly _tag: "ByRule"; readonly rule: string }

/** A contact to add; an empty name is none. */
export interface NewContact {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
}

/** A list that a person names. */
export interface NamedList {
  readonly name: string
  /** Whether it is meant although there is none of this name, and one that nearly has it. */
  readonly isMeant: boolean
}

/** What is to be said of the name of a list before contacts are put on it or, if it is not `isOn`, taken off. */
export type ListQuestion =
  | { readonly _tag: "Unnamed" | "Known" | "New" | "Unknown" }
  | { readonly _tag: "Near"; readonly near: string }

/** Whether a list of this name is there, is made, or is asked about. Where no list is known, any may be there. */
export const listQuestion = (
  { isMeant, name }: NamedList,
  isOn: boolean,
  known: ReadonlyArray<string>
): ListQuestion => {
  if (name.trim() === "") return { _tag: "Unnamed" }
  const [made] = newListsAmong([name], known)
  if (made === undefined || (!isOn && known.length === 0)) return { _tag: "Known" }
  if (!isOn) return { _tag: "Unknown" }
  return made.near === undefined || isMeant ? { _tag: "New" } : { _tag: "Near", near: made.near }
}

/** Whether nothing is left to be said. */
export const isSaid = ({ _tag }: ListQuestion): boolean => _tag === "Known" || _tag === "New"

/** What contacts get: a status, once one is chosen, a text in a field, which an empty one removes, or a place on a list, or off it. */
export type NewValue =
  | (NamedList & { readonly field: "list"; readonly isOn: boolean })
  | { readonly field: "status"; readonly value: ContactStatus | undefined; readonly resubscribe: boolean }
  | { readonly field: "firstName" | "lastName"; readonly value: string }
  | { readonly field: "custom"; readonly name: string; readonly value: string }

/** What a person wants to do. */
export type Wanted =
  | { readonly _tag: "Add"; readonly contact: NewContact }
  /** Addresses that nobody has. */
  | { readonly _tag: "AddMany"; readonly emails: ReadonlyArray<string> }
  | { readonly _tag: "Change"; readonly meant: Meant; readonly to: NewValue }
  | { readonly _tag: "Delete"; readonly meant: Meant }
  /** A list, with the number of contacts on it if that is told. */
  | { readonly _tag: "DeleteList"; readonly name: string; readonly contacts: number | undefined }

/** What a person is about to do. */
export const wanted = Atom.keepAlive(Atom.make<Wanted | undefined>(undefined))

/** The rule that selects what a rule does, but some contacts; an empty one selects all. */
export const ruleBut = (rule: string, emails: ReadonlySet<string>): string => {
  const isOfAll = /^\s*(?:all\s*)?$/i.test(rule)
  const [first, ...others] = Array.from(emails, (email) =>
    Rule.compare(Rule.recordField("email"), "!=", Rule.text(email))
  )
  if (first === undefined) return isOfAll ? Rule.print(Rule.all) : rule
  const without = Rule.print(Rule.and([first, ...others]))
  return isOfAll ? without : `(${rule}) AND ${without}`
}

/** The contacts that are meant, as they are read: of any number, since none of them is held. */
export const readMeant = (meant: Meant) =>
  Stream.unwrap(ContactsService.use((service) => Effect.succeed(read(service, meant))))

type Read = Stream.Stream<Contact, InvalidInput | InvalidRule | TooManyContacts | ServiceError>

const read = (service: ContactsService["Service"], meant: Meant): Read =>
  meant._tag === "ByRule"
    ? service.stream({ rule: meant.rule })
    : Stream.fromIterable(meant.emails).pipe(
        Stream.grouped(maximumLookup),
        Stream.mapEffect((some) => Effect.map(service.getMany(some), ({ contacts }) => contacts)),
        Stream.flattenIterable
      )

/** Maximum number of addresses that a command line shows; more are given in a file. */
const mostNamed = 5

/** The file of addresses to add, as the page saves it and a command reads it. */
export const addressFileName = "unknown-addresses.csv"

/** How a command means the same contacts. */
export const meantOf = (meant: Meant): Required<Pick<RosterCommand, "given" | "values">> =>
  meant._tag === "ByRule"
    ? { given: [], values: { rule: meant.rule } }
    : meant.emails.size > mostNamed
      ? { given: [], values: { file: "addresses.txt" } }
      : { given: [...meant.emails], values: {} }
