/** `roster contacts list` */
import {
  type Contact,
  ContactsService,
  type ContactRule,
  maximumContactsPerPage,
  parseRule,
  ruleMatcher,
  ruleSource
} from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { usageError } from "../../errors/UsageError.ts"
import { settings } from "../../settings/Settings.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { Output } from "../../terminal/Output.ts"
import { countText } from "../../terminal/Printable.ts"
import { resumeCommand, ResumeHint } from "../../terminal/ResumeHint.ts"
import { text, toggle } from "../../settings/FlagForms.ts"
import { count, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { noteAbsentFields, noteFields, ruleFlags, twoRules } from "../shared/RuleFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { columns, printContacts } from "./ContactTable.ts"

/** Number of contacts that are shown unless the command line says how many. */
const shownByDefault = 20

/** The contacts on a list of the local store. */
const contactsOn = Effect.fnUntraced(function* (
  name: string,
  { offset = 0, rule }: { readonly offset: number | undefined; readonly rule: ContactRule | undefined }
) {
  const on = yield* settings
  if (on._tag === "Remote") return yield* EmbeddedStore.refuseService
  const { ContactLists } = yield* EmbeddedStore.server
  const all = Effect.map(ContactLists.ContactLists, ({ contacts }) => contacts(name)).pipe(
    Stream.unwrap,
    Stream.provide(EmbeddedStore.listsOf(on.filename))
  )
  if (rule === undefined) return Stream.drop(all, offset)
  const matches = ruleMatcher(yield* Effect.fromResult(parseRule(ruleSource(rule))), yield* DateTime.now)
  return all.pipe(Stream.filter(matches), Stream.drop(offset))
})

type OnList = Effect.Success<ReturnType<typeof contactsOn>>
type Found = Stream.Stream<
  Contact,
  Stream.Error<OnList> | Stream.Error<ReturnType<ContactsService["Service"]["stream"]>>,
  Stream.Services<OnList>
>

/** The number of all contacts, of which one is at this offset. The interface has no count, but lists from any offset. */
const totalFrom = Effect.fnUntraced(function* (offset: number) {
  const contacts = yield* ContactsService
  const isThere = (at: number) => Effect.map(contacts.list({ limit: 1, offset: at }), ({ length }) => length > 0)
  let there = offset
  let beyond = 2 * offset
  while (yield* isThere(beyond)) {
    there = beyond
    beyond *= 2
  }
  while (beyond - there > 1) {
    const middle = Math.floor((there + beyond) / 2)
    if (yield* isThere(middle)) there = middle
    else beyond = middle
  }
  return beyond
})

export const command = Command.make(
  "list",
  {
    limit: count("limit", `Maximum number of contacts to show (default: ${shownByDefault})`, 1),
    offset: count("offset", "Number of contacts to skip (default: 0)", 0),
    ...ruleFlags,
    on: text("on", "Show the contacts on this list of the local store", "LIST"),
    columns,
    all: toggle("all", "List all contacts")
  },
  Effect.fnUntraced(function* ({ all, columns, limit, offset, on, rawRule, rule: checked }) {
    const output = yield* Output
    if (columns !== undefined && (output.format === "json" || output.format === "ndjson")) {
      return yield* usageError("--columns needs --output table or csv.", "JSON has all fields of a contact.")
    }
    const rule = checked ?? rawRule
    yield* noteFields(rule)
    yield* noteAbsentFields(rule)
    const contacts = yield* ContactsService
    const isCut = limit === undefined && !all
    // One more than is shown tells whether there are more.
    const wanted = all ? Number.POSITIVE_INFINITY : (limit ?? shownByDefault + 1)
    const found: Found =
      on !== undefined
        ? Stream.take(yield* contactsOn(on, { offset, rule }), wanted)
        : wanted > maximumContactsPerPage
          ? Stream.take(contacts.stream({ offset, rule }), wanted)
          : Stream.fromArrayEffect(contacts.list({ limit: wanted, offset, rule }))
    if (isCut) {
      const first = yield* Stream.runCollect(found)
      const shown = first.slice(0, shownByDefault)
      yield* printContacts(Stream.fromIterable(shown), columns, () => {})
      if (first.length === shown.length) return
      const isCounted = on === undefined && rule === undefined && (yield* settings)._tag === "Local"
      const what = isCounted
        ? `${shownByDefault} of ${countText(yield* totalFrom((offset ?? 0) + shownByDefault))} contacts`
        : `${shownByDefault} contacts, and there are more`
      return yield* output.note(`${what}; --all lists them`)
    }
    const hint = yield* ResumeHint
    const base = yield* resumeCommand([], [], "--offset")
    let printed = offset ?? 0
    yield* printContacts(found, columns, (count) => {
      printed += count
      if (all) hint.command = `${base} --offset ${printed}`
    })
  })
).pipe(
  Command.validate((given) =>
    refuseFlags(
      twoRules(given),
      [given.all && given.limit !== undefined, "--all and --limit cannot be used together."],
      [given.on !== undefined && given.rawRule !== undefined, "--on and --raw-rule cannot be used together."]
    )
  ),
  withExamples({
    "roster contacts list --limit 50": "List the first 50 contacts",
    "roster contacts list --rule \"status = Active AND city = 'Berlin'\"": "List the contacts that a rule selects",
    "roster contacts list --on Newsletter --all": "List the contacts on a list of the local store",
    "roster contacts list --all --columns Email,city,plan -o csv": "Choose the columns",
    "roster contacts list --all -o json | jq -r '.[].Email'": "Print the addresses of all contacts"
  }),
  Command.provide(TargetLayer.layer)
)
