/** `roster contacts list` */
import { type Contact, type ContactOrder, contactOrders, ContactsService, maximumContactsPerPage } from "@roster/domain"
import { type ContactRule } from "@roster/domain/internal"
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { usageError } from "../../errors/UsageError.ts"
import { settings } from "../../settings/Settings.ts"
import { Output } from "../../terminal/Output.ts"
import { countText } from "../../terminal/Printable.ts"
import { resumeCommand, ResumeHint } from "../../terminal/ResumeHint.ts"
import { text, toggle } from "../../settings/FlagForms.ts"
import { count, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { checkFields, givenRule, ruleFlags, twoRules } from "../shared/RuleFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { contactsOn, noteUnplacedOn } from "./ContactsOnList.ts"
import { columns, printContacts } from "./ContactTable.ts"

/** Number of contacts that are shown unless the command line says how many. */
const shownByDefault = 20

/** So many contacts: in one request, and in further ones where a service gives fewer than asked for. */
const firstContacts = (
  contacts: ContactsService["Service"],
  wanted: number,
  { offset, rule }: { readonly offset: number | undefined; readonly rule: ContactRule | undefined }
) => {
  const from = (offset: number | undefined, count: number) => Stream.take(contacts.stream({ offset, rule }), count)
  if (wanted > maximumContactsPerPage) return from(offset, wanted)
  return Stream.unwrap(
    Effect.map(contacts.list({ limit: wanted, offset, rule }), (page) => {
      const isLast = page.length === 0 || page.length === wanted
      const rest = isLast ? Stream.empty : from((offset ?? 0) + page.length, wanted - page.length)
      return Stream.concat(Stream.fromIterable(page), rest)
    })
  )
}

/** So many contacts in another order, page behind page. */
const sortedContacts = (
  contacts: ContactsService["Service"],
  wanted: number,
  {
    sort,
    ...from
  }: { readonly offset: number | undefined; readonly rule: ContactRule | undefined; readonly sort: ContactOrder }
) =>
  Stream.paginate({ ...from, after: undefined as string | undefined, left: wanted }, ({ after, left, offset, rule }) =>
    Effect.map(contacts.list({ limit: Math.min(left, maximumContactsPerPage), offset, rule, sort, after }), (page) => {
      const last = page.at(-1)
      const rest = left - page.length
      return [
        page,
        last === undefined || rest <= 0
          ? Option.none()
          : Option.some({ rule, offset: undefined, after: last.email, left: rest })
      ] as const
    })
  )

type OnList = Effect.Success<ReturnType<typeof contactsOn>>
type Found = Stream.Stream<
  Contact,
  Stream.Error<OnList> | Stream.Error<ReturnType<ContactsService["Service"]["stream"]>>,
  Stream.Services<OnList>
>

export const command = Command.make(
  "list",
  {
    limit: count("limit", `Maximum number of contacts to show (default: ${shownByDefault})`, 1),
    offset: count("offset", "Number of contacts to skip (default: 0)", 0),
    ...ruleFlags,
    sort: Flag.Literals("sort", contactOrders).pipe(
      Flag.withDescription("Order of the contacts, backwards with a minus; at a service of ours (default: added)"),
      Flag.withDefault(undefined)
    ),
    on: text("on", "Show the contacts on this list", "LIST"),
    columns,
    all: toggle("all", "List all contacts")
  },
  Effect.fnUntraced(function* ({ all, allowUnknownField, columns, limit, offset, on, sort, ...given }) {
    const output = yield* Output
    if (columns !== undefined && (output.format === "json" || output.format === "ndjson")) {
      return yield* usageError("--columns needs --output table or csv.", "JSON has all fields of a contact.")
    }
    const rule = yield* givenRule(given)
    yield* checkFields(rule, { allowUnknownField, columns })
    const contacts = yield* ContactsService
    const isCut = limit === undefined && !all
    // One more than is shown tells whether there are more.
    const wanted = all ? Number.POSITIVE_INFINITY : (limit ?? shownByDefault + 1)
    const found: Found =
      on !== undefined
        ? Stream.take(yield* contactsOn(on, { offset, rule }), wanted)
        : sort !== undefined && sort !== "added"
          ? sortedContacts(contacts, wanted, { offset, rule, sort })
          : firstContacts(contacts, wanted, { offset, rule })
    if (isCut) {
      const first = yield* Stream.runCollect(found)
      const shown = first.slice(0, shownByDefault)
      yield* printContacts(Stream.fromIterable(shown), columns, () => {})
      yield* noteUnplacedOn(on, rule)
      if (first.length === shown.length) return
      const isCounted = on === undefined && rule === undefined && (yield* settings)._tag === "Local"
      const what = isCounted
        ? `${shownByDefault} of ${countText((yield* contacts.count()).count)} contacts`
        : `${shownByDefault} contacts, and there are more`
      return yield* output.note(`${what}; --all lists them`)
    }
    const hint = yield* ResumeHint
    const base = yield* resumeCommand([], [], "--offset")
    let printed = offset ?? 0
    yield* printContacts(found, columns, (count) => {
      printed += count
      if (all && (sort ?? "added") === "added") hint.command = `${base} --offset ${printed}`
    })
    yield* noteUnplacedOn(on, rule)
  })
).pipe(
  Command.validate((given) =>
    refuseFlags(
      twoRules(given),
      [given.all && given.limit !== undefined, "--all and --limit cannot be used together."],
      [given.on !== undefined && given.rawRule !== undefined, "--on and --raw-rule cannot be used together."],
      [given.on !== undefined && given.sort !== undefined, "--on and --sort cannot be used together."]
    )
  ),
  withExamples({
    "roster contacts list --limit 50": "List the first 50 contacts",
    "roster contacts list --rule \"status = Active AND city = 'Berlin'\"": "List the contacts that a rule selects",
    "roster contacts list --sort=-added": "List the contacts that were added last",
    "roster contacts list --on Newsletter --all": "List the contacts on a list",
    "roster contacts list --all --columns Email,city,plan -o csv": "Choose the columns",
    "roster contacts list --all -o json | jq -r '.[].Email'": "Print the addresses of all contacts"
  }),
  Command.provide(TargetLayer.layerForReads)
)
