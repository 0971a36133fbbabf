/** Addresses that a person pastes: who of them is a contact, and who is none. */
import { ContactsService, maximumLookup, canonicalEmail } from "@roster/domain"
import { type AddressList, longestAddressList, readAddressList } from "@roster/domain/internal"
import { Data, Effect, Stream } from "effect"
import { runtime } from "../session/Session.ts"
import { findTexts } from "../texts/FindTexts.ts"

/** Maximum number of addresses that are looked up at once. */
export const maximumPasted = 2000

/** The text has more addresses than are looked up at once. */
export class TooManyPasted extends Data.TaggedError("TooManyPasted")<{ readonly count: number }> {
  override get message(): string {
    return findTexts.tooMany(this.count, maximumPasted)
  }
}

/** What became of pasted addresses. */
export interface LookedUp extends AddressList {
  /** The addresses of the contacts, as they are stored. */
  readonly known: ReadonlyArray<string>
  /** The addresses that nobody has, as they were pasted. */
  readonly unknown: ReadonlyArray<string>
}

/** Looks up the addresses of a text. */
export const lookUpAll = runtime.fn(
  Effect.fnUntraced(function* (text: string) {
    const read = readAddressList(text)
    const { length } = read.addresses
    if (length > maximumPasted || text.length > longestAddressList) return yield* new TooManyPasted({ count: length })
    const service = yield* ContactsService
    const found = yield* Stream.fromIterable(read.addresses).pipe(
      Stream.grouped(maximumLookup),
      Stream.mapEffect((some) => Effect.map(service.getMany(some), ({ contacts }) => contacts)),
      Stream.flattenIterable,
      Stream.map(({ email }) => email),
      Stream.runCollect
    )
    const stored = new Set(found.map(canonicalEmail))
    const lookedUp: LookedUp = {
      ...read,
      known: found,
      unknown: read.addresses.filter((email) => !stored.has(canonicalEmail(email)))
    }
    return lookedUp
  })
)

/** The text with the corrections of what a person has mistyped, one address a line. */
export const corrected = ({ addresses, others }: AddressList): string =>
  [...addresses, ...others.map(({ meant, text }) => meant ?? text)].join("\n")

/** Addresses as a file of contacts. */
export const addressFile = (addresses: ReadonlyArray<string>): string => `${["Email", ...addresses].join("\r\n")}\r\n`
