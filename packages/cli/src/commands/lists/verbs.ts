/** `roster lists list`, `add` and `remove` */
import type { ContactFilter } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { createList, refuseNewLists } from "../shared/ListNames.ts"
import { selected, selectionFlags, selectionRefusals } from "../shared/Selection.ts"

/** None of the named contacts is on the list. */
export class NotOnList extends Schema.TaggedError<NotOnList>()("NotOnList", { message: Schema.String }) {}

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const { ContactLists } = yield* EmbeddedStore.server
    const lists = yield* ContactLists.ContactLists
    yield* Results.records(ContactLists.ContactList, ["Name", "Contacts"], Stream.fromArrayEffect(lists.list))
  })
).pipe(Command.withExamples([{ command: "roster lists list" }]), Command.provide(EmbeddedStore.layerLists))

const name = Argument.String("list").pipe(Argument.withDescription("Name of the list"))

/** The number of the named contacts that do not change; of a rule, of those that it selects. */
const others = (filter: ContactFilter, { changed, selected }: Places): number =>
  (filter._tag === "ByEmails" ? filter.emails.length : selected) - changed

type Places = { readonly changed: number; readonly selected: number }

export const add = Command.make(
  "add",
  { name, ...selectionFlags, createList, dryRun },
  Effect.fnUntraced(function* ({ createList, dryRun, name, ...selection }) {
    const { ContactLists } = yield* EmbeddedStore.server
    const lists = yield* ContactLists.ContactLists
    const filter = yield* selected(selection)
    yield* refuseNewLists([name], { createList, lists: yield* lists.list })
    const places = yield* lists.add(name, filter, { dryRun })
    if (dryRun) {
      const words = `Would put ${counted(places.changed)} on the list`
      return yield* Results.summary({ dryRun, added: places.changed }, words)
    }
    if (places.selected === 0) return yield* new NotOnList({ message: "None of these contacts exists." })
    const unchanged = others(filter, places)
    yield* Results.summary(
      { added: places.changed, unchanged },
      `Put ${counted(places.changed)} on the list ${name}` +
        (unchanged === 0 ? "" : `; ${unchanged} ${unchanged === 1 ? "was" : "were"} on it or do not exist`)
    )
  })
).pipe(
  Command.validate((given) => refuseFlags(...selectionRefusals(given))),
  withExamples({
    "roster lists add Newsletter ann@example.com": "",
    "roster lists add Newsletter --rule \"plan = 'pro'\"": "Put all contacts that a rule selects on the list"
  }),
  Command.provide(EmbeddedStore.layerLists)
)

export const remove = Command.make(
  "remove",
  { name, ...selectionFlags, dryRun },
  Effect.fnUntraced(function* ({ dryRun, name, ...selection }) {
    const { ContactLists } = yield* EmbeddedStore.server
    const lists = yield* ContactLists.ContactLists
    const filter = yield* selected(selection)
    const places = yield* lists.remove(name, filter, { dryRun })
    const { changed } = places
    if (changed === 0) {
      return yield* new NotOnList({ message: `None of these contacts is on the list ${name}.` })
    }
    if (dryRun) {
      return yield* Results.summary({ dryRun, removed: changed }, `Would take ${counted(changed)} off the list`)
    }
    const notThere = others(filter, places)
    yield* Results.summary(
      { removed: changed, notThere },
      `Took ${counted(changed)} off the list ` +
        `${name}${notThere === 0 ? "" : `; ${notThere} ${notThere === 1 ? "was" : "were"} not on it`}`
    )
  })
).pipe(
  Command.validate((given) => refuseFlags(...selectionRefusals(given))),
  withExamples({
    "roster lists remove Newsletter ann@example.com": "The contact itself stays",
    "roster lists remove Newsletter --file left.csv --dry-run": ""
  }),
  Command.provide(EmbeddedStore.layerLists)
)
