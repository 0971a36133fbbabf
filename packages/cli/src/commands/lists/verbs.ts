/** `roster lists list` and `remove` */
import { canonicalEmail } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { dryRun, endDryRun } from "../../terminal/DryRun.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { emails, withExamples } from "../shared/CommonFlags.ts"

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
).pipe(
  Command.withExamples([{ command: "roster lists list" }]),
  Command.provide(EmbeddedStore.layerLists({ dryRun: false }))
)

export const remove = Command.make(
  "remove",
  {
    name: Argument.String("list").pipe(Argument.withDescription("Name of the list")),
    emails: Argument.variadic(emails, { min: 1 }),
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, emails, name }) {
    const { ContactLists } = yield* EmbeddedStore.server
    const lists = yield* ContactLists.ContactLists
    const named = new Set(emails.map(canonicalEmail))
    if (dryRun) {
      const on = yield* lists.contacts(name).pipe(
        Stream.filter(({ email }) => named.has(canonicalEmail(email))),
        Stream.runCount
      )
      return yield* on === 0 ? notOn(name) : endDryRun("remove", name, `Would take ${counted(on)} off the list`)
    }
    const removed = yield* lists.remove(name, [...named])
    if (removed.length === 0) return yield* notOn(name)
    const others = named.size - removed.length
    yield* Results.summary(
      { removed: removed.length, notThere: others },
      `Took ${counted(removed.length)} off the list ` +
        `${name}${others === 0 ? "" : `; ${others} ${others === 1 ? "was" : "were"} not on it`}`
    )
  })
).pipe(
  withExamples({
    "roster lists remove Newsletter ann@example.com": "The contact itself stays",
    "roster lists remove Newsletter ann@example.com bob@example.com --dry-run": ""
  }),
  Command.provide(({ dryRun }) => EmbeddedStore.layerLists({ dryRun }))
)

const notOn = (name: string) =>
  Effect.fail(new NotOnList({ message: `None of these contacts is on the list ${name}.` }))
