/** Refuses names of lists that there are not, since a typing error would make a list. A service does not show its lists. */
import { FieldNames } from "@roster/domain"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect } from "effect"
import { usageError } from "../../errors/UsageError.ts"
import { toggle } from "../../settings/FlagForms.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { shorten } from "../../terminal/Printable.ts"

export const createList = toggle("create-list", "Make lists that do not exist yet, on a store that has other lists")

/** Refuses new names where there are lists. */
export const refuseNewLists = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  given: { readonly createList: boolean; readonly lists: ReadonlyArray<{ readonly name: string }> }
) {
  if (given.createList || given.lists.length === 0) return
  const spellings = new Map(given.lists.map(({ name }) => [FieldNames.foldName(name), name]))
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

/** Refuses names of no list of the local store, for a command that would write to it. A service is not asked. */
export const checkListNames = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  given: { readonly createList: boolean }
) {
  if (names.length === 0 || given.createList) return
  const store = yield* EmbeddedStore.existingStore
  if (store === undefined) return
  const { ContactLists } = yield* EmbeddedStore.server
  const list = Effect.flatMap(ContactLists.ContactLists, ({ list }) => list)
  const lists = yield* Effect.provide(list, EmbeddedStore.listsOf(store))
  yield* refuseNewLists(names, { ...given, lists })
})
