/** Makes one change to many contacts, after counting them, showing some and asking. It is recorded, and can be undone. */
import {
  type Contact,
  type ContactFilter,
  ContactNotFound,
  ContactsService,
  type ContactUpdatePayload,
  maximumLookup,
  ruleSource
} from "@roster/domain"
import {
  exportTo,
  isMoreThanHalf,
  type PlanStorage,
  planUpdate,
  type ReadError,
  readBackup,
  type UnreadableBackup
} from "@roster/workflows"
import { Effect, Stream } from "effect"
import { prepare } from "../../files/AtomicFile.ts"
import { temporaryPath, temporaryProblem, temporarySink } from "../../files/TemporaryFile.ts"
import type { UsageError } from "../../errors/UsageError.ts"
import { readBytes } from "../../settings/InputFile.ts"
import { Output } from "../../terminal/Output.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { canAgree, confirmContacts, mostByYes } from "../shared/Confirm.ts"
import { checkFields } from "../shared/RuleFlags.ts"
import { carryOut } from "./import/CarryOut.ts"

interface Given {
  readonly yes: boolean
  readonly confirm: number | undefined
  readonly dryRun: boolean
  readonly allowUnknownField: boolean
}

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

type Found = Stream.Stream<Contact, ReadError | UnreadableBackup | UsageError>

/** The contacts of a rule as they are at one moment: by an export, which a dry run would leave behind. */
const ofRule = Effect.fnUntraced(function* (filter: ContactFilter & { readonly _tag: "ByRule" }, dryRun: boolean) {
  const { stream } = yield* ContactsService
  if (dryRun) return stream({ rule: filter.rule })
  const file = yield* temporaryPath("contacts.json")
  yield* exportTo({ filter, fileFormat: "Json" }, (content) => Stream.run(content, temporarySink(file)))
  return readBackup(yield* readBytes(file))
}, temporaryProblem("the contacts"))

/** The contacts with some addresses. */
const namedBy = (emails: ReadonlyArray<string>, getMany: ContactsService["Service"]["getMany"]) =>
  Stream.fromIterable(emails).pipe(
    Stream.grouped(maximumLookup),
    Stream.mapEffect((some) => Effect.map(getMany(some), ({ contacts }) => contacts)),
    Stream.flattenIterable
  )

const shown = 5

export const updateMany = Effect.fnUntraced(function* (
  filter: ContactFilter,
  changes: ContactUpdatePayload,
  { dryRun, ...given }: Given
) {
  const output = yield* Output
  const { getMany } = yield* ContactsService
  const isByRule = filter._tag === "ByRule"
  const what = isByRule ? `change every contact that the rule ${ruleSource(filter.rule)} selects` : "change contacts"
  yield* canAgree(what, { agreed: given.yes, dryRun })
  if (isByRule) {
    yield* checkFields(filter.rule, given)
  }
  const contacts: Found = isByRule ? yield* ofRule(filter, dryRun) : namedBy(filter.emails, getMany)
  const plan = yield* planUpdate(contacts, changes, { storage: yield* planFile })
  const { changed, read, unchanged } = plan.summary
  if (!isByRule && read === 0) return yield* new ContactNotFound({ email: filter.emails.slice(0, 3).join(", ") })
  const notThere = isByRule ? {} : { notThere: filter.emails.length - read }
  const facts = { selected: read, changed, unchanged, ...notThere }
  const sample = plan.summary.sample.slice(0, shown)
  const preview = [
    `change ${counted(changed)} of ${read}${unchanged === 0 ? "" : `; ${unchanged} are so already`}`,
    ...sample.map(({ changes, email }) => `  ${email}  ${changesText(changes)}`),
    ...(changed > sample.length ? ["  …"] : [])
  ].map(printable)
  if (dryRun) {
    return yield* Results.summary({ dryRun: true, ...facts, sample }, `Would ${preview.join("\n")}`)
  }
  if (changed === 0) {
    return yield* Results.summary(
      facts,
      `No contact changes: ${counted(read)} ${read === 1 ? "is" : "are"} so already.`
    )
  }
  yield* output.note(preview.join("\n"))
  yield* confirmContacts(what, changed, given, changed > mostByYes || (isByRule && (yield* isMoreThanHalf(changed))))
  yield* carryOut(plan, {
    command: "update",
    doing: "Changing",
    again: "those that are outdated were changed by others meanwhile"
  })
}, Effect.scoped)

const changesText = (changes: Readonly<Record<string, readonly [before: unknown, after: unknown]>>): string =>
  Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${before ?? "nothing"} -> ${after ?? "nothing"}`)
    .join(", ")
