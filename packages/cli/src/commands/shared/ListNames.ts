/** Refuses names of lists that there are not, since a typing error would make a list. A service does not show its lists. */
import { FieldNames, ListNotFound } from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect } from "effect"
import { usageError } from "../../errors/UsageError.ts"
import { toggle } from "../../settings/FlagForms.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { shorten } from "../../terminal/Printable.ts"

export const createList = toggle("create-list", "Make lists that do not exist yet, on a store that has other lists")

/** The lists of the local store; `undefined` if there is none, or a service is used, which does not show them all. */
const knownLists = Effect.gen(function* () {
  const store = yield* EmbeddedStore.existingStore
  if (store === undefined) return undefined
  const { ContactLists } = yield* EmbeddedStore.server
  const list = Effect.flatMap(ContactLists.ContactLists, ({ list }) => list)
  const lists = yield* Effect.provide(list, EmbeddedStore.listsOf(store))
  return new Map(lists.map(({ name }) => [FieldNames.foldName(name), name]))
})

/** Refuses names of no list of a local store that has lists, for a command that would write to it. */
export const checkListNames = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  given: { readonly createList: boolean }
) {
  if (names.length === 0 || given.createList) return
  const spellings = yield* knownLists
  if (spellings === undefined || spellings.size === 0) return
  const absent = names.filter((name) => !spellings.has(FieldNames.foldName(name)))
  if (absent.length === 0) return
  const words = absent.map((name) => {
    const meant = didYouMean(name, [...spellings.values()])
    return `there is no list "${shorten(name)}"${meant === undefined ? "" : `; ${meant}`}`
  })
  const text = words.join(", ")
  const end = text.endsWith("?") ? "" : "."
  return yield* usageError(`Nothing was done: ${text}${end}`, "To make a new list, add --create-list.")
})

/** Refuses the name of no list of the local store, for a command that takes contacts off it. */
export const checkListExists = Effect.fnUntraced(function* (name: string) {
  const spellings = yield* knownLists
  if (spellings !== undefined && !spellings.has(FieldNames.foldName(name))) return yield* new ListNotFound({ name })
})
