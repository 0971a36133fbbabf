/** What a person does to contacts, and to which: those that were chosen, or all that a rule selects, as they are now. */
import { ContactsService, type ContactStatus, maximumLookup } from "@roster/domain"
import type { RosterCommand } from "@roster/workflows"
import { Data, Effect, Stream } from "effect"
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

/** What contacts get: a status, or a text in a field, which an empty one removes. */
export type NewValue =
  | { readonly field: "status"; readonly value: ContactStatus; readonly resubscribe: boolean }
  | { readonly field: "firstName" | "lastName"; readonly value: string }
  | { readonly field: "custom"; readonly name: string; readonly value: string }

/** What a person wants to do. */
export type Wanted =
  | { readonly _tag: "Add"; readonly contact: NewContact }
  | { readonly _tag: "Change"; readonly meant: Meant; readonly to: NewValue }
  | { readonly _tag: "Delete"; readonly meant: Meant }

/** What a person is about to do. */
export const wanted = Atom.keepAlive(Atom.make<Wanted | undefined>(undefined))

/** Maximum number of contacts that the page deletes or changes at once; it holds them in memory meanwhile. */
export const maximumMeant = 100_000

/** A rule selects more contacts than the page deletes or changes at once. */
export class TooManyAtOnce extends Data.TaggedError("TooManyAtOnce")<{ readonly rule: string }> {
  override get message(): string {
    return `The rule selects more than ${maximumMeant.toLocaleString()} contacts, which is more than the page takes at once. The command line takes them.`
  }
}

/** Reads the contacts that are meant. */
export const readMeant = Effect.fnUntraced(function* (meant: Meant) {
  const service = yield* ContactsService
  if (meant._tag === "Chosen") {
    return yield* Stream.fromIterable(meant.emails).pipe(
      Stream.grouped(maximumLookup),
      Stream.mapEffect((some) => Effect.map(service.getMany(some), ({ contacts }) => contacts)),
      Stream.flattenIterable,
      Stream.runCollect
    )
  }
  const contacts = yield* Stream.runCollect(Stream.take(service.stream({ rule: meant.rule }), maximumMeant + 1))
  return contacts.length > maximumMeant ? yield* new TooManyAtOnce({ rule: meant.rule }) : contacts
})

/** Maximum number of addresses that a command line shows; more are given in a file. */
const mostNamed = 5

/** How a command means the same contacts. */
export const meantOf = (meant: Meant): Pick<RosterCommand, "given" | "values"> =>
  meant._tag === "ByRule"
    ? { values: { rule: meant.rule } }
    : meant.emails.size > mostNamed
      ? { values: { file: "addresses.txt" } }
      : { given: [...meant.emails] }
