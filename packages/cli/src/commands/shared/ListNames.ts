/** The lists of a service or store, and refusals of names that are none: a typing error would make a list. */
import { type ContactList, type InvalidInput, ListNotFound, ListsService, type ServiceError } from "@roster/domain"
import { FieldNames } from "@roster/domain/internal"
import { didYouMean } from "@roster/domain/DidYouMean"
import { newListsAmong, newListWords } from "@roster/workflows"
import { Effect, Option, Stream } from "effect"
import { usageError } from "../../errors/UsageError.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { shorten } from "../../terminal/Printable.ts"
import { sayNew } from "./NewFields.ts"

export const createList = toggle("create-list", "Make lists that do not exist yet, where there are others")

const pageSize = 1000

/** All lists, by name, and where the service tells it how many contacts each has. */
export const everyList = (
  options: { readonly counts?: boolean } = {}
): Stream.Stream<ContactList, InvalidInput | ServiceError, ListsService> =>
  Stream.paginate(
    0,
    Effect.fnUntraced(function* (offset: number) {
      const page = yield* ListsService.use((lists) => lists.list({ ...options, limit: pageSize, offset }))
      const next = offset + page.length
      return [page, page.length < pageSize ? Option.none() : Option.some(next)] as const
    })
  )

/** The lists by their names; `undefined` at a service that does not show them to this key. */
const knownLists = Stream.runCollect(everyList()).pipe(
  Effect.map((lists) => new Map(lists.map(({ listName }) => [FieldNames.foldName(listName), listName]))),
  Effect.catchTag("ServiceError", (error) =>
    error.reason._tag === "AccessDenied" || error.reason._tag === "Rejected" ? Effect.undefined : Effect.fail(error)
  )
)

/** Refuses names of no list where there are lists, unless a flag makes them, for a command that would write to it. */
export const checkListNames = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  { createList, newField }: { readonly createList: boolean; readonly newField: boolean }
) {
  if (names.length === 0) return
  const spellings = yield* knownLists
  if (spellings === undefined) return
  const absent = newListsAmong(names, spellings.values())
  if (absent.length === 0) return
  if (createList || spellings.size === 0) return yield* sayNew("list", absent, { newField, words: newListWords })
  const words = absent.map(({ name }) => {
    const meant = didYouMean(name, [...spellings.values()])
    return `there is no list "${shorten(name)}"${meant === undefined ? "" : `; ${meant}`}`
  })
  const text = words.join(", ")
  const end = text.endsWith("?") ? "" : "."
  return yield* usageError(`Nothing was done: ${text}${end}`, "To make a new list, add --create-list.")
})

/** A list by its name, with the number of its contacts where the service tells it. */
export const findList = Effect.fnUntraced(function* (name: string) {
  const isNamed = ({ listName }: ContactList): boolean => FieldNames.foldName(listName) === FieldNames.foldName(name)
  const found = yield* Stream.runHead(Stream.filter(everyList({ counts: true }), isNamed))
  return yield* Effect.fromOption(found).pipe(Effect.mapError(() => new ListNotFound({ name })))
})

/** Refuses the name of no list, for a command that takes contacts off it. */
export const checkListExists = Effect.fnUntraced(function* (name: string) {
  const spellings = yield* knownLists
  if (spellings !== undefined && !spellings.has(FieldNames.foldName(name))) return yield* new ListNotFound({ name })
})
