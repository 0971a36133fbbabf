/** `roster lists`: the lists themselves, and the places of contacts on them. */
import { ListsService } from "@roster/domain"
import { ruleSource } from "@roster/domain/internal"
import { deleteListAsRun, planUpdate, type PlanSummary, type UpdateOfMany } from "@roster/workflows"
import { Effect, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { counted, shorten } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { allowUnplaced, type Given, planAndApply } from "../contacts/PlanOfMany.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { withHelp } from "../shared/HelpExtras.ts"
import { confirm, confirmContacts, confirmCount, yes } from "../shared/Confirm.ts"
import { checkListExists, checkListNames, createList, everyList, findList } from "../shared/ListNames.ts"
import { newField } from "../shared/NewFields.ts"
import {
  isOne,
  selected,
  type Selection,
  selectionFlags,
  selectionRefusals,
  aboutSelection,
  fileGroup
} from "../shared/Selection.ts"

/** None of the named contacts is on the list. */
export class NotOnList extends Schema.TaggedError<NotOnList>()("NotOnList", { message: Schema.String }) {}

/** A list with the number of its contacts, which only a service of ours tells. */
const Row = Schema.Struct({ Name: Schema.String, Contacts: Schema.optionalKey(Schema.Int) })

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const shown = Stream.map(everyList({ counts: true }), ({ contacts, listName }) => ({
      Name: listName,
      ...(contacts === undefined ? {} : { Contacts: contacts })
    }))
    yield* Results.records(Row, ["Name", "Contacts"], shown)
  })
).pipe(Command.withExamples([{ command: "roster lists list" }]), Command.provide(TargetLayer.layerForReads))

const name = Argument.String("list").pipe(Argument.withDescription("Name of the list"))

export const create = Command.make(
  "create",
  { name, newField },
  Effect.fnUntraced(function* ({ name, newField }) {
    yield* checkListNames([name], { createList: true, newField })
    yield* ListsService.use((lists) => lists.create({ listName: name }))
    yield* Results.done(`The list ${shorten(name)} is made.`)
  })
).pipe(
  withExamples({ "roster lists create 'Summer party'": "An empty list; lists add puts contacts on it" }),
  Command.provide(TargetLayer.layerForWrites({ makesStore: true }))
)

export const rename = Command.make(
  "rename",
  { name, newName: Argument.String("new-name").pipe(Argument.withDescription("Its new name")) },
  Effect.fnUntraced(function* ({ name, newName }) {
    yield* ListsService.use((lists) => lists.update(name, { newListName: newName }))
    yield* Results.done(`The list ${shorten(name)} is now ${shorten(newName)}.`)
  })
).pipe(
  withExamples({ "roster lists rename Newsletter 'Newsletter 2026'": "Everybody stays on it" }),
  Command.provide(TargetLayer.layer)
)

const stay = (contacts: number): string => `${counted(contacts)} on it ${contacts === 1 ? "stays" : "stay"}`

export const deleteList = Command.make(
  "delete",
  { name, yes, confirm: confirmCount },
  Effect.fnUntraced(function* ({ name, ...given }) {
    const { contacts } = yield* findList(name)
    const what = `delete the list ${shorten(name)}`
    if (contacts === undefined) yield* confirm(`${what}, which this service lets nobody undo; the contacts stay`, given)
    else yield* confirmContacts(`${what}: ${stay(contacts)}`, contacts, given)
    const { contacts: left } = yield* RunLogLayer.about(name)(deleteListAsRun(name))
    yield* Results.done(`The list ${shorten(name)} is deleted${left === undefined ? "" : `: ${stay(left)}`}.`)
  })
).pipe(
  withExamples({ "roster lists delete Newsletter": "The contacts on it stay" }),
  Command.provide(RunLogLayer.layerForWrites({}))
)

const flags = {
  name,
  ...selectionFlags,
  allowUnplaced,
  yes,
  confirm: confirmCount,
  dryRun
}

/** What a command does to the places of contacts on a list. */
interface Places<E> {
  readonly command: "lists add" | "lists remove"
  readonly doing: string
  readonly change: Pick<UpdateOfMany, "addToLists" | "removeFromLists">
  /** What it does to some contacts, in words that follow "would". */
  readonly verb: (contacts: string) => string
  /** What is said if the contacts are so already, or the error that this is. */
  readonly nothing: (summary: PlanSummary) => Effect.Effect<string, E>
}

/** Plans it, asks about more than one contact, and does it as a run. */
const changePlaces = Effect.fnUntraced(function* <E>(
  given: Given & Selection & { readonly name: string },
  { change, command, doing, nothing, verb }: Places<E>
) {
  const filter = yield* selected(given)
  const contacts =
    filter._tag === "ByRule"
      ? `every contact that the rule ${ruleSource(filter.rule)} selects`
      : counted(filter.emails.length)
  /** At another service, which does not tell who is on a list before it changes that: no run can record it. */
  const byItsOwn = Effect.gen(function* () {
    const what = verb(contacts)
    if (given.dryRun) return yield* Results.summary({ ok: true, dryRun: true }, `This would ${what}.`)
    yield* confirm(`${what}, which this service lets nobody undo`, { yes: given.yes || isOne(given) })
    const lists = yield* ListsService
    const isAdd = change.addToLists !== undefined
    yield* isAdd ? lists.add(given.name, filter) : lists.remove(given.name, filter)
    yield* Results.done(isAdd ? "The contacts are on the list." : "The contacts are off the list.")
  })
  yield* planAndApply(
    filter,
    {
      command,
      file: given.file,
      doing,
      what: verb(filter._tag === "ByRule" ? contacts : "contacts"),
      input: JSON.stringify(change),
      plan: (contacts, options) => planUpdate(contacts, change, options),
      preview: ({ alreadySo, changed, sample }) => ({
        lines: [
          `${verb(counted(changed))}${alreadySo === 0 ? "" : `; ${alreadySo} ${alreadySo === 1 ? "is" : "are"} so already`}`,
          ...sample.slice(0, shown).map(({ email }) => `  ${email}`),
          ...(changed > shown ? ["  …"] : [])
        ],
        facts: { changed, alreadySo, sample: sample.map(({ email }) => email) }
      }),
      nothing
    },
    { ...given, yes: given.yes || isOne(given) }
  ).pipe(
    Effect.catchTag("NotChangeable", () => byItsOwn),
    RunLogLayer.about(`${given.name}: ${aboutSelection(given, filter)}`)
  )
})

const shown = 5

export const add = Command.make(
  "add",
  { ...flags, createList, newField },
  Effect.fnUntraced(function* ({ createList, name, newField, ...given }) {
    yield* checkListNames([name], { createList, newField })
    yield* changePlaces(
      { name, ...given },
      {
        command: "lists add",
        doing: "Adding",
        change: { addToLists: [name] },
        verb: (contacts) => `put ${contacts} on the list ${shorten(name)}`,
        nothing: ({ read }) =>
          Effect.succeed(`No contact changes: ${counted(read)} ${read === 1 ? "is" : "are"} on the list already.`)
      }
    )
  })
).pipe(
  Command.validate((given) => refuseFlags(...selectionRefusals(given))),
  withExamples({
    "roster lists add Newsletter ann@example.com": "",
    "roster lists add Newsletter --rule \"plan = 'pro'\"": "Put all contacts that a rule selects on the list"
  }),
  withHelp({ groups: fileGroup }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)

export const remove = Command.make(
  "remove",
  flags,
  Effect.fnUntraced(function* ({ name, ...given }) {
    yield* checkListExists(name)
    yield* changePlaces(
      { name, ...given },
      {
        command: "lists remove",
        doing: "Removing",
        change: { removeFromLists: [name] },
        verb: (contacts) => `take ${contacts} off the list ${shorten(name)}`,
        nothing: () =>
          Effect.fail(new NotOnList({ message: `None of these contacts is on the list ${shorten(name)}.` }))
      }
    )
  })
).pipe(
  Command.validate((given) => refuseFlags(...selectionRefusals(given))),
  withExamples({
    "roster lists remove Newsletter ann@example.com": "The contact itself stays",
    "roster lists remove Newsletter --file left.csv --dry-run": ""
  }),
  withHelp({ groups: fileGroup }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
