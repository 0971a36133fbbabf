/**
 * Walks sequences of all ways in over one person, random and directed ones, and looks after each step whether the status is
 * what docs/decisions/upsert.md says. The model is written from its sentences.
 */
import { assert } from "@effect/vitest"
import {
  type AddOptions,
  type ContactPayload,
  ContactsService,
  ContactStatus,
  EmailAddress,
  ImportSource,
  readContacts
} from "@roster/domain"
import {
  addAll,
  addRows,
  changeAsRun,
  importContacts,
  planDelete,
  planImport,
  type RunLog,
  undoRun
} from "@roster/workflows"
import { Effect, Stream } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { seededRandom } from "../../src/simulation/LongRun.ts"

type Lifted = AddOptions["resubscribe"]

const ladder: ReadonlyArray<ContactStatus> = ["NotConfirmed", "Bounced", "Unsubscribed", "Abuse"]

/** 0 for those that replace each other. */
const rung = (status: ContactStatus): number => 1 + ladder.indexOf(status)

/** The status of somebody who has `now` and is given `to`. */
const said = (now: ContactStatus, to: ContactStatus, resubscribe: Lifted): ContactStatus => {
  if (resubscribe === undefined) return to
  const lifts =
    resubscribe === true
      ? now !== "Abuse" && rung(now) > 0
      : resubscribe !== false && resubscribe.some((s) => s === now)
  if (lifts) return to
  return to === "NotConfirmed" || rung(to) < rung(now) ? now : to
}

/** What a restore keeps of two statuses. */
const stopOf = (status: ContactStatus): number =>
  rung(status) > 0 ? 1 + rung(status) : status === "Inactive" || status === "Stale" ? 1 : 0

/** A status with a number that tells when it was given: giving one that stops mail again is another time. */
interface Given {
  readonly status: ContactStatus
  readonly time: number
}

interface RecordedRun {
  readonly id: string
  readonly before: Given
  readonly after: Given
}

/** How a store is backed up and restored, where it can be. */
export interface Backups {
  readonly create: Effect.Effect<unknown, unknown>
  readonly restore: Effect.Effect<unknown, unknown>
}

/** How the walk meets a service: each step is run by `on`, between which nobody has the store. */
export interface Walking {
  readonly on: <A, E>(step: Effect.Effect<A, E, ContactsService | RunLog>) => Effect.Effect<A, unknown>
  readonly backups?: Backups | undefined
  /** Whether the service knows nothing of the ladder. */
  readonly isForeign?: boolean
}

const utf8 = new TextEncoder()

/** The ways in that are no runs. Those of a foreign service send what is at the top without reading. */
const adds: Readonly<
  Record<string, (contact: ContactPayload, resubscribe: Lifted) => Effect.Effect<unknown, unknown, ContactsService>>
> = {
  POST: (contact) => ContactsService.use((contacts) => contacts.add([contact])),
  add: (contact, resubscribe = false) => ContactsService.use((contacts) => contacts.add([contact], { resubscribe })),
  addAll: (contact, resubscribe) => Stream.runDrain(addAll(Stream.make(contact), { resubscribe })),
  addRows: (contact, resubscribe) => addRows(rowsOf(contact), { resubscribe })
}

const fileOf = ({ email, firstName, status }: ContactPayload, more = "") =>
  utf8.encode(`Email,FirstName,Status\n${email},${firstName ?? ""},${status ?? ""}\n${more}`)

const rowsOf = (contact: ContactPayload) => readContacts(Stream.make(fileOf(contact)))

const runs: Readonly<
  Record<
    string,
    (
      contact: ContactPayload,
      resubscribe: Lifted
    ) => Effect.Effect<string | undefined, unknown, ContactsService | RunLog>
  >
> = {
  importContacts: (contact, resubscribe) =>
    Effect.map(importContacts(rowsOf(contact), { resubscribe }), ({ run }) => run),
  "plan and apply": (contact, resubscribe) =>
    Effect.scoped(planImport(rowsOf(contact), { resubscribe })).pipe(
      Effect.flatMap(({ apply }) => apply),
      Effect.map(({ report }) => report.run)
    )
}

const lifts: ReadonlyArray<{ readonly resubscribe?: Lifted }> = [
  {},
  { resubscribe: false },
  { resubscribe: true },
  { resubscribe: ["Bounced", "NotConfirmed"] },
  { resubscribe: ["Abuse"] }
]

/** A step, with the status that it gives: that which is there if none is named. */
interface Step {
  readonly step: string
  readonly to?: ContactStatus | undefined
  readonly resubscribe?: Lifted
}

/** A person and the steps that they go. */
interface Course {
  readonly name: string
  readonly begin: ContactStatus
  readonly steps: ReadonlyArray<Step>
}

/** A random course. */
export const randomCourse = (
  { backups, isForeign = false }: Pick<Walking, "backups" | "isForeign">,
  seed: number,
  length: number
): Course => {
  const random = seededRandom(seed)
  const oneOf = <A>(some: ReadonlyArray<A>): A => {
    const one = some[Math.floor(random() * some.length)]
    if (one === undefined) throw new Error("nothing to choose from")
    return one
  }
  const steps = [
    ...Object.keys(adds),
    ...Object.keys(runs),
    "change",
    "one person",
    "one known person",
    "undo",
    "undo",
    "delete and undo",
    ...(isForeign ? [] : ["import"]),
    ...(backups === undefined ? [] : ["back up", "restore"])
  ]
  return {
    name: `walk${seed}`,
    begin: oneOf(ContactStatus.literals),
    steps: Array.from({ length }, () => ({
      step: oneOf(steps),
      // Often the status that is there, which is said again.
      to: random() < 0.4 ? undefined : oneOf(ContactStatus.literals),
      ...oneOf(lifts)
    }))
  }
}

/** Statuses in the order of a restore, two of each place that is not on the ladder. */
const places: ReadonlyArray<ContactStatus> = ["Engaged", "Active", "Stale", "Inactive", ...ladder]

/** A backup of each status is restored over those of the next places, above and below. */
export const restores: Course = {
  name: "restores",
  begin: "Active",
  steps: places.slice(1).flatMap((above, below) =>
    [
      [above, places[below]],
      [places[below], above]
    ].flatMap(([was, is]): ReadonlyArray<Step> => [
      { step: "POST", to: was },
      { step: "back up" },
      { step: "POST", to: is },
      { step: "restore" }
    ])
  )
}

const wrongImport: Step = { step: "importContacts", to: "Unsubscribed" }
const deletion: Step = { step: "delete and undo" }
const undo: Step = { step: "undo" }

/** A wrong import is undone after the person left by themselves, who gave another name with it. */
export const leavesAgain: Course = {
  name: "leaves",
  begin: "Active",
  steps: [wrongImport, { step: "one known person", to: "Unsubscribed" }, undo, undo]
}

/** Wrong imports are undone after an undo of a deletion brought the contact back. */
export const undoneDeletions: Course = {
  name: "deletions",
  begin: "Active",
  steps: [
    [wrongImport, deletion, undo],
    [wrongImport, deletion, deletion, undo],
    [wrongImport, deletion, { step: "POST", to: "Unsubscribed" } as const, undo]
  ].flat()
}

/** Walks one course. */
export const walk = Effect.fnUntraced(function* (
  { backups, isForeign = false, on }: Walking,
  { begin, name, steps }: Course
) {
  const email = EmailAddress.make(`${name}@ladder.example`)
  let time = 0
  let now: Given = { status: begin, time }
  yield* on(ContactsService.use((contacts) => contacts.add([{ email, status: now.status, firstName: "Begun" }])))
  const course = [`${now.status}`]
  let recorded: Array<RecordedRun> = []
  let backedUp: Given | undefined
  const become = (status: ContactStatus, isSaidAgain: boolean): Given =>
    status !== now.status || (isSaidAgain && rung(status) > 0) ? { status, time: ++time } : now

  for (const [index, { resubscribe: given, step, ...gives }] of steps.entries()) {
    const to = gives.to ?? now.status
    const contact = { email, status: to, firstName: `Step ${index}` }
    course.push(`${step} ${to} ${JSON.stringify(given)}`)
    const byAdd = adds[step]
    const byRun = runs[step]
    if (byAdd !== undefined) {
      yield* on(byAdd(contact, given))
      // An add without the option writes what it is given.
      const resubscribe = step === "POST" ? undefined : (given ?? false)
      const isUnread = isForeign && (to === "Unsubscribed" || to === "Abuse")
      const status = isUnread ? to : said(now.status, to, resubscribe)
      now = become(status, status === to)
    } else if (byRun !== undefined) {
      const id = yield* on(byRun(contact, given))
      const before = now
      now = become(said(now.status, to, given ?? false), false)
      if (id !== undefined) recorded.push({ id, before, after: now })
    } else if (step === "change") {
      yield* on(
        ContactsService.use((contacts) =>
          Effect.flatMap(contacts.get(email), (seen) =>
            contacts.change([{ email, seen, write: { status: to, resubscribe: given ?? false } }])
          )
        )
      )
      const status = said(now.status, to, given ?? false)
      now = become(status, status === to)
    } else if (step === "one person" || step === "one known person") {
      const { firstName, status } = contact
      const write = { firstName, status, resubscribe: given }
      const made = yield* on(
        changeAsRun({ email, write }, { command: "add", of: step === "one person" ? "any" : "existing" }).pipe(
          // Where the service does not compare, only an add can give a status.
          Effect.catchTags({ WouldResubscribe: () => Effect.undefined, NotChangeable: () => Effect.undefined })
        )
      )
      const isAsked = rung(to) < rung(now.status) && said(now.status, to, given ?? false) !== to
      assert.isTrue(isAsked ? made === undefined : made !== undefined || isForeign, course.join("; "))
      if (made === undefined) continue
      const before = now
      now = become(to, true)
      recorded.push({ id: made.run, before, after: now })
    } else if (step === "import") {
      const marker = `last-${name}-${index}@ladder.example`
      yield* on(
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const content = Stream.make(fileOf(contact, `${marker},,\n`))
          yield* contacts.import(ImportSource.File({ name: "one.csv", content }), { resubscribe: given })
          yield* eventually(contacts.list({ rule: `email = '${marker}'` }), (found) => found.length === 1)
        })
      )
      now = become(said(now.status, to, given ?? false), false)
    } else if (step === "undo") {
      const run = recorded.pop()
      if (run === undefined) continue
      yield* on(Effect.scoped(undoRun(run.id)))
      const { after, before } = run
      const isOwn = after.status !== before.status && now.status === after.status
      const lowers = rung(before.status) < rung(now.status)
      // Of a foreign service nobody can tell who gave a status last.
      if (isOwn && (!lowers || (!isForeign && now.time === after.time))) now = before
    } else if (step === "delete and undo") {
      const deletion = yield* on(
        planDelete(Stream.fromEffect(ContactsService.use((contacts) => contacts.get(email)))).pipe(
          Effect.flatMap(({ apply }) => apply)
        )
      )
      assert.strictEqual(deletion.report.deleted, 1)
      yield* on(Effect.scoped(undoRun(deletion.report.run ?? "")))
    } else if (step === "back up" && backups !== undefined) {
      yield* backups.create
      backedUp = now
    } else if (step === "restore" && backups !== undefined && backedUp !== undefined) {
      yield* backups.restore
      const [here, there] = [stopOf(now.status), stopOf(backedUp.status)]
      now = now.status !== backedUp.status && here > 0 && here >= there ? now : backedUp
      recorded = []
    }
    const stored = yield* on(ContactsService.use((contacts) => contacts.get(email)))
    assert.strictEqual(stored.status, now.status, `${name}: ${course.join("; ")}`)
  }
})
