/** Changes or deletes many contacts by a plan: after counting them, showing some and asking. It can be undone. */
import {
  beforeWriting,
  canonicalEmail,
  type Contact,
  type ContactFilter,
  ContactNotFound,
  ContactsService,
  type InvalidInput,
  maximumLookup,
  parseRule
} from "@roster/domain"
import { type ContactRule, ruleSource, unplacedText } from "@roster/domain/internal"
import {
  emptyReport,
  exportTo,
  type Plan,
  isMoreThanHalf,
  onlyFormWords,
  type PlanStorage,
  type PlanSummary,
  type ReadError,
  readExportedContacts,
  recipientWords,
  type RunLog,
  type UnreadableExport
} from "@roster/workflows"
import { Effect, Result, Stream } from "effect"
import { createHash } from "node:crypto"
import type { PartlyDone, UsageError } from "../../errors/UsageError.ts"
import { prepare } from "../../files/AtomicFile.ts"
import { temporaryPath, temporaryProblem, temporarySink } from "../../files/TemporaryFile.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { readBytes } from "../../settings/InputFile.ts"
import { Output } from "../../terminal/Output.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { canAgree, confirmContacts, confirmFact, mostByYes } from "../shared/Confirm.ts"
import { checkFields, countUnplaced, sayUnplaced } from "../shared/RuleFlags.ts"
import { carryOut } from "./import/CarryOut.ts"
import { type Facts, type PlannedCommand, reporting } from "./runs/RunSummary.ts"

export interface Given {
  readonly yes: boolean
  readonly confirm: number | undefined
  readonly dryRun: boolean
  readonly allowUnknownField: boolean
  readonly allowUnplaced: boolean
  /** Custom fields that the command names beside its rule. */
  readonly columns?: ReadonlyArray<string> | undefined
}

/** The flag of commands that write to what a rule selects. */
export const allowUnplaced = toggle(
  "allow-unplaced",
  "Go on although a rule cannot compare values of some contacts, and leave those out (default: ask)"
)

/** Says which contacts a rule leaves out; unless a flag allows it, that has to be confirmed before others are written. */
const checkUnplaced = Effect.fnUntraced(function* (
  rule: ContactRule,
  { allowUnplaced, dryRun }: Pick<Given, "allowUnplaced" | "dryRun">
) {
  const counting = countUnplaced(rule)
  const { count = 0, unplaced } =
    (yield* allowUnplaced ? Effect.orElseSucceed(counting, () => undefined) : counting) ?? {}
  if (unplaced === undefined) return
  if (allowUnplaced || dryRun || count === 0) yield* sayUnplaced(unplaced)
  else {
    const hint = "To go on without them, add --allow-unplaced."
    yield* confirmFact(printable(unplacedText(unplaced)), "Go on without them", hint)
  }
  return unplaced
})

/** Keeps a plan in a private temporary file. */
const planFile = Effect.gen(function* () {
  const file = yield* temporaryPath("plan.json")
  const write = yield* prepare(file, { force: false })
  const storage: PlanStorage<UsageError> = {
    write: (content) => Effect.asVoid(write(content)),
    content: yield* readBytes(file)
  }
  return storage
}).pipe(temporaryProblem("the plan"))

/** Contacts that were selected. */
type Found = Stream.Stream<Contact, ReadError | UnreadableExport | UsageError>

/** The contacts of a rule as they are at one moment: by an export, which a dry run would leave behind. */
const ofRule = Effect.fnUntraced(function* (filter: ContactFilter & { readonly _tag: "ByRule" }, dryRun: boolean) {
  const { stream } = yield* ContactsService
  if (dryRun) return stream({ rule: filter.rule })
  const file = yield* temporaryPath("contacts.json")
  yield* exportTo({ filter, fileFormat: "Json" }, (content) => Stream.run(content, temporarySink(file)), {
    // They were looked for before, or are allowed.
    allowUnknownField: true
  })
  return readExportedContacts(yield* readBytes(file))
}, temporaryProblem("the contacts"))

/** The contacts with some addresses, and those that are not there, once it was read. */
const ofEmails = (emails: ReadonlyArray<string>, getMany: ContactsService["Service"]["getMany"]) => {
  const missing: Array<string> = []
  const contacts = Stream.fromIterable(emails).pipe(
    Stream.grouped(maximumLookup),
    Stream.mapEffect((some) =>
      Effect.map(beforeWriting(getMany(some)), ({ contacts }) => {
        const there = new Set(contacts.map(({ email }) => canonicalEmail(email)))
        missing.push(...some.filter((email) => !there.has(canonicalEmail(email))))
        return contacts
      })
    ),
    Stream.flattenIterable
  )
  return { contacts, missing }
}

/** Some addresses in a message. */
const someOf = (emails: ReadonlyArray<string>): string =>
  `${emails.slice(0, 3).join(", ")}${emails.length > 3 ? ` and ${emails.length - 3} more` : ""}`

/** What is done to many contacts. */
interface Work<E, EN> {
  readonly command: Exclude<PlannedCommand, "apply">
  /** The file with the addresses. */
  readonly file: string | undefined
  readonly doing: string
  /** What is done, in words that follow "would". */
  readonly what: string
  /** What it is, beside the contacts, so that an interrupted command goes on as one run. */
  readonly input: string
  readonly plan: (
    contacts: Found,
    options: { readonly storage: PlanStorage<UsageError> }
  ) => Effect.Effect<Plan<UsageError>, E | InvalidInput, ContactsService | RunLog>
  /** What the plan does, in words that follow "Would" and as JSON. */
  readonly preview: (summary: PlanSummary) => {
    readonly lines: ReadonlyArray<string>
    readonly facts: Readonly<Record<string, unknown>>
  }
  /** What is said if it would do nothing, or the error that this is. */
  readonly nothing: (summary: PlanSummary) => Effect.Effect<string, EN>
  /** What is said beside the report. */
  readonly facts?: (summary: PlanSummary) => Facts
  /** How the command ends if the plan leaves something that was to be done. */
  readonly partly?: (summary: PlanSummary) => PartlyDone | undefined
}

const shownChanges = 5

const changesText = ({ changes, onlyForm = [] }: PlanSummary["sample"][number]): string =>
  Object.entries(changes)
    .map(([field, [before, after]]) => {
      const form = onlyForm.includes(field) ? " (only its form)" : ""
      return `${field}: ${before ?? "nothing"} -> ${after ?? "nothing"}${form}`
    })
    .join(", ")

const keptText = (count: number): string =>
  count === 1
    ? "1 contact does not get the status, since it has a stricter one or has confirmed"
    : `${count} contacts do not get the status, since they have a stricter one or have confirmed`

/** The contacts that keep their status. */
export const keptLines = ({ statusesKept: kept, keptStatuses: rows }: PlanSummary) =>
  kept === 0
    ? []
    : [
        `${keptText(kept)}; --resubscribe lifts all but Abuse:`,
        ...rows.map(({ email, status }) => `  ${email} stays ${status}`),
        ...(kept > rows.length ? ["  …"] : [])
      ]

/** What a plan changes, in words and as JSON. */
export const changesPreview = (summary: PlanSummary) => {
  const { alreadySo, changed, fields, onlyForm = {}, read } = summary
  const sample = summary.sample.slice(0, shownChanges)
  const others = alreadySo === 1 ? "1 stays as it is" : `${alreadySo} stay as they are`
  return {
    lines: [
      `change ${counted(changed)} of ${read}${alreadySo === 0 ? "" : `; ${others}`}`,
      ...Object.entries(onlyForm).map(
        ([field, count]) =>
          `${field}: ${counted(fields[field] ?? count)}${onlyFormWords(fields[field] ?? count, count)}`
      ),
      ...sample.map((one) => `  ${one.email}  ${changesText(one)}`),
      ...(changed > sample.length ? ["  …"] : []),
      ...keptLines(summary)
    ],
    facts: {
      changed,
      alreadySo,
      ...Results.omitUndefined({ onlyForm: summary.onlyForm }),
      sample
    }
  }
}

/** Whether a rule selects all contacts, or is of another dialect, so that nobody knows what it selects. */
const isUnbounded = (filter: ContactFilter): boolean => {
  if (filter._tag !== "ByRule") return false
  const parsed = parseRule(ruleSource(filter.rule))
  return Result.isFailure(parsed) || parsed.success._tag === "All"
}

/** Plans work on the contacts of a filter, asks, and applies the plan. */
export const planAndApply = Effect.fnUntraced(function* <E, EN>(
  filter: ContactFilter,
  {
    command,
    doing,
    facts: factsOf,
    file,
    input,
    nothing,
    partly: partlyOf,
    plan: makePlan,
    preview,
    what
  }: Work<E, EN>,
  { dryRun, ...given }: Given
) {
  const output = yield* Output
  const { getMany } = yield* ContactsService
  const isByRule = filter._tag === "ByRule"
  yield* canAgree(what, { agreed: given.yes, dryRun })
  if (isByRule) yield* checkFields(filter.rule, given)
  const unplaced = isByRule ? yield* checkUnplaced(filter.rule, { ...given, dryRun }) : undefined
  const { contacts, missing }: { readonly contacts: Found; readonly missing: ReadonlyArray<string> } = isByRule
    ? { contacts: yield* ofRule(filter, dryRun), missing: [] }
    : ofEmails(filter.emails, getMany)
  const plan = yield* makePlan(contacts, { storage: yield* planFile })
  const { alreadySo, changed, deleted = 0, keptStatuses, read, statusesKept } = plan.summary
  if (!isByRule && read === 0) return yield* new ContactNotFound({ email: someOf(missing) })
  if (missing.length > 0) yield* output.note(`There is no contact ${printable(someOf(missing))}.`)
  const count = changed + deleted
  const isSevere =
    count > mostByYes || (isByRule && ((deleted > 0 && isUnbounded(filter)) || (yield* isMoreThanHalf(count))))
  const { facts, lines } = preview(plan.summary)
  const whyNothing = count === 0 ? yield* nothing(plan.summary) : ""
  const said = Results.omitUndefined({ notThere: isByRule ? undefined : missing.length, ...factsOf?.(plan.summary) })
  const kept = { statusesKept, keptStatuses }
  const { newRecipients } = plan.summary
  const partly = partlyOf?.(plan.summary)
  const shown = [...lines, ...recipientWords(plan.summary)].map(printable).join("\n")
  if (dryRun) {
    const found = {
      dryRun: true,
      read,
      ...facts,
      ...kept,
      ...said,
      ...Results.omitUndefined({ newRecipients, unplaced })
    }
    yield* Results.summary({ ...found, needsConfirm: isSevere }, `Would ${shown}`)
    return partly === undefined ? undefined : yield* partly
  }
  if (count === 0) {
    const report = { ...emptyReport, ...kept, read, done: alreadySo, alreadySo }
    return yield* reporting({ command, file }, (tell) =>
      tell({ report, facts: said, words: whyNothing }).pipe(
        Effect.andThen(partly === undefined ? Effect.void : Effect.fail(partly))
      )
    )
  }
  yield* output.note(shown)
  yield* confirmContacts(what, count, given, isSevere)
  const selected = isByRule ? ruleSource(filter.rule) : filter.emails.map(canonicalEmail).toSorted().join("\n")
  yield* carryOut(plan, {
    command,
    doing,
    input: createHash("sha256")
      .update(JSON.stringify([input, selected]))
      .digest("hex"),
    again: "Others changed contacts meanwhile, which are as they left them: look at them, and run the command again.",
    file,
    alreadySo,
    facts: said,
    partly
  })
}, Effect.scoped)
