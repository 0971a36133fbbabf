import { assert, describe, it } from "@effect/vitest"
import {
  auditEntries,
  ContactsService,
  ContactStatus,
  CredentialName,
  CredentialsService,
  EmailAddress
} from "@roster/domain"
import type { Layer } from "effect"
import { Arbitrary, Clock, Effect, Redacted, Schedule, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import type { CarryOptions } from "../../src/backup/CarriedForward.ts"
import * as StoreBackup from "../../src/backup/StoreBackup.ts"
import { Caller } from "../../src/credentials/Caller.ts"
import { keyLookup } from "../../src/credentials/KeyLookup.ts"
import { digestOf } from "../../src/credentials/Secret.ts"
import { openFile, renewLink } from "../../src/jobs/exports/ExportRequests.ts"
import * as SqlServices from "../../src/services/SqlServices.ts"
import { migrateTo } from "../../src/store/Migrations.ts"
import { freshPath, useSql } from "../store/sqlite/Store.ts"

const keyNames = ["ci", "shop"]
const levels = ["ViewContacts", "Export"] as const
const emails = ["ann@example.com", "bob@example.com"]

const Step = Schema.Union([
  Schema.TaggedStruct("Create", { name: Schema.Literals(keyNames) }),
  Schema.TaggedStruct("Delete", { name: Schema.Literals(keyNames) }),
  Schema.TaggedStruct("Rename", { from: Schema.Literals(keyNames), name: Schema.Literals(keyNames) }),
  Schema.TaggedStruct("Narrow", { name: Schema.Literals(keyNames), level: Schema.Literals(levels) }),
  Schema.TaggedStruct("Status", { email: Schema.Literals(emails), status: ContactStatus }),
  Schema.TaggedStruct("Forget", { email: Schema.Literals(emails) })
])
type Step = typeof Step.Type

interface Known {
  /** The levels of each secret that works. */
  readonly keys: ReadonlyMap<string, ReadonlyArray<string>>
  readonly contacts: ReadonlyMap<string, string>
  /** The entries of the audit trail as they were printed, by their number. */
  readonly trail: ReadonlyMap<number, string>
}

const take = Effect.fnUntraced(function* (step: Step, secrets: Set<string>) {
  const contacts = yield* ContactsService
  const { apiKeys } = yield* CredentialsService
  switch (step._tag) {
    case "Create": {
      const { token } = yield* apiKeys.create({ name: CredentialName.make(step.name), accessLevels: levels })
      return secrets.add(Redacted.value(token))
    }
    case "Delete":
      return yield* apiKeys.delete(step.name)
    case "Rename":
      return yield* apiKeys.update(step.from, { name: CredentialName.make(step.name) })
    case "Narrow":
      return yield* apiKeys.update(step.name, { name: CredentialName.make(step.name), accessLevels: [step.level] })
    case "Status":
      return yield* contacts.add([{ email: EmailAddress.make(step.email), status: step.status }])
    case "Forget":
      return yield* contacts.delete(step.email)
  }
})

/** What a store says from outside. */
const look = Effect.fnUntraced(function* (secrets: ReadonlySet<string>): Effect.fn.Return<Known, unknown, Services> {
  const find = keyLookup(yield* SqlClient.SqlClient)
  const clock = yield* Clock.Clock
  const rows = yield* Effect.forEach(secrets, (secret) =>
    Effect.map(find(digestOf(secret), clock), (row) => ({ secret, row }))
  )
  const all = yield* Stream.runCollect((yield* ContactsService).stream())
  const trail = yield* Stream.runCollect(auditEntries())
  return {
    keys: new Map(
      rows.flatMap(({ row, secret }) => (row === undefined ? [] : [[secret, JSON.parse(row.access_levels)]]))
    ),
    contacts: new Map(all.map(({ email, status = "" }) => [email, status])),
    trail: new Map(trail.map((entry) => [entry.number, JSON.stringify(entry)]))
  }
})

type Services = Layer.Success<ReturnType<typeof services>>

const services = (filename: string) => SqlServices.layerWithStore({ filename })

/** Runs steps, of which some are refused, and looks. */
const after = (filename: string, steps: ReadonlyArray<Step>, secrets: Set<string>) =>
  Effect.andThen(
    Effect.forEach(steps, (step) => Effect.option(take(step, secrets))),
    look(secrets)
  ).pipe(Effect.provide(services(filename)))

/** The last status that each person was given while the store had them, whom it may not have any more. */
const lastGiven = (steps: ReadonlyArray<Step>): ReadonlyMap<string, string> => {
  const contacts = new Map<string, string>()
  const given = new Map<string, string>()
  for (const step of steps) {
    if (step._tag === "Forget") contacts.delete(step.email)
    if (step._tag !== "Status") continue
    const before = contacts.get(step.email)
    if (before === undefined ? stopOf(step.status) > 0 : before !== step.status) given.set(step.email, step.status)
    contacts.set(step.email, step.status)
  }
  return given
}

/** A store, its backup, and what both said before a restore. */
const history = Effect.fnUntraced(function* (before: ReadonlyArray<Step>, since: ReadonlyArray<Step>) {
  const to = yield* freshPath
  const from = join(dirname(to), "backup.db")
  const secrets = new Set<string>()
  const was = yield* after(to, before, secrets)
  yield* StoreBackup.create({ from: to, to: from })
  const now = yield* after(to, since, secrets)
  const restore = (options: CarryOptions = {}, store = to) =>
    Effect.andThen(StoreBackup.restore({ ...options, from, to: store }), (restored) =>
      Effect.map(after(store, [], secrets), (known) => ({ restored, known }))
    )
  return { from, to, was, now, restore }
})

const stops: Readonly<Record<ContactStatus, number>> = {
  Transactional: 0,
  Engaged: 0,
  Active: 0,
  Inactive: 1,
  Stale: 1,
  NotConfirmed: 2,
  Bounced: 3,
  Unsubscribed: 4,
  Abuse: 5
}
const stopOf = (status: string | undefined): number =>
  Object.entries(stops).find(([name]) => name === status)?.[1] ?? -1

const statusAfter = (was: string | undefined, now: string | undefined): string | undefined => {
  if (was === undefined) return stopOf(now) >= 2 ? now : undefined
  return stopOf(now) > 0 && stopOf(now) >= stopOf(was) ? now : was
}

const statuses = (known: Known) => emails.map((email) => known.contacts.get(email))

/** Two keys and somebody who gets mail. */
const begun: ReadonlyArray<Step> = [
  { _tag: "Create", name: "ci" },
  { _tag: "Create", name: "shop" },
  { _tag: "Status", email: "ann@example.com", status: "Active" }
]

const steps = Arbitrary.array(Arbitrary.schema(Step), { maxLength: 8 })

describe("a restore over a store", () => {
  it.live.prop(
    "brings back no revoked key, no mail to who gets none, and loses no entry of the audit trail",
    { before: steps, since: steps },
    ({ before, since }) =>
      Effect.gen(function* () {
        const { now, restore, was } = yield* history([...begun, ...before], since)
        const given = lastGiven([...begun, ...before, ...since])
        const nowOf = (email: string) =>
          now.contacts.get(email) ?? (was.contacts.has(email) ? given.get(email) : undefined)
        const { known, restored } = yield* restore()
        assert.deepStrictEqual(known.keys, new Map([...now.keys].filter(([key]) => was.keys.has(key))))
        assert.strictEqual(restored.carried.credentials, known.keys.size)
        assert.deepStrictEqual(
          statuses(known),
          emails.map((email) => statusAfter(was.contacts.get(email), nowOf(email)))
        )
        assert.deepStrictEqual(
          [...now.trail].filter(([number, entry]) => known.trail.get(number) !== entry),
          []
        )
        const again = yield* restore()
        assert.deepStrictEqual([again.known.keys, again.known.contacts], [known.keys, known.contacts])
      }),
    { arbitrary: { runs: 10 } }
  )
})

/** One key was replaced since the backup, the other one may do less, and two people get no more mail. */
const changed = history(begun, [
  { _tag: "Delete", name: "ci" },
  { _tag: "Create", name: "ci" },
  { _tag: "Narrow", name: "shop", level: "Export" },
  { _tag: "Status", email: "ann@example.com", status: "Unsubscribed" },
  { _tag: "Status", email: "bob@example.com", status: "Abuse" }
])

/** The entries of a restore in an audit trail, oldest first. */
const entriesOf = ({ trail }: Known) =>
  [...trail.values()]
    .map((entry) => JSON.parse(entry))
    .filter(({ operation }) => operation === "restore")
    .map(({ details, outcome, subject }) => [outcome, subject, details])
    .toReversed()

const secretsOf = ({ keys }: Known) => [...keys]

describe("what a restore brings back", () => {
  it.live("is said by name and number before it happens, and is nothing without a word", () =>
    Effect.gen(function* () {
      const { now, restore, to } = yield* changed
      const { known, restored } = yield* restore()
      const { carried } = restored
      assert.deepStrictEqual(
        { ...carried, revoked: carried.revoked.map(({ name }) => name), lost: carried.lost.map(({ name }) => name) },
        {
          knowsKeys: true,
          credentials: 1,
          hasKey: true,
          revoked: ["ci"],
          lost: ["ci"],
          stopped: 1,
          added: 1,
          returning: 0,
          auditEntries: 3
        }
      )
      // The key that stays has the levels of now, not those of the backup.
      assert.deepStrictEqual(secretsOf(known), [secretsOf(now).at(0)])
      assert.deepStrictEqual(secretsOf(known)[0]?.[1], ["Export"])
      assert.deepStrictEqual(entriesOf(known), [["Done", "ci", { levelsRemoved: [...levels] }]])
      assert.deepStrictEqual(
        readdirSync(dirname(to)).filter((name) => name.includes("restoring")),
        []
      )
    })
  )

  it.live("is a revoked key by the word for it, with an entry of the audit trail", () =>
    Effect.gen(function* () {
      const { restore, was } = yield* changed
      const { known } = yield* restore({ bringBackKeys: true })
      assert.sameMembers([...known.keys.keys()], [...was.keys.keys()])
      assert.deepStrictEqual(statuses(known), ["Unsubscribed", "Abuse"])
      assert.deepStrictEqual(entriesOf(known), [
        ["Done", "ci", { levelsRemoved: [...levels] }],
        ["Done", "ci", { levelsAdded: [...levels] }]
      ])
    })
  )

  it.live("is mail to people who left by the word for it", () =>
    Effect.gen(function* () {
      const { restore } = yield* changed
      const { known, restored } = yield* restore({ resubscribe: true })
      // Abuse is lifted by its name alone.
      assert.deepStrictEqual(statuses(known), ["Active", "Abuse"])
      const { added, lifted, stopped } = restored.carried
      assert.deepStrictEqual([stopped, added, lifted, known.keys.size], [1, 1, { stopped: 1, added: 0 }, 1])
    })
  )

  it.live("is nobody's mail who was deleted since, added as somebody who left, and deleted again", () =>
    Effect.gen(function* () {
      const { restore } = yield* history(begun, [
        { _tag: "Forget", email: "ann@example.com" },
        { _tag: "Status", email: "ann@example.com", status: "Unsubscribed" },
        { _tag: "Forget", email: "ann@example.com" }
      ])
      assert.deepStrictEqual(statuses((yield* restore()).known), ["Unsubscribed", undefined])
    })
  )

  it.live("is nobody's mail who left and was deleted since", () =>
    Effect.gen(function* () {
      const { restore } = yield* history(begun, [
        { _tag: "Status", email: "ann@example.com", status: "Unsubscribed" },
        { _tag: "Forget", email: "ann@example.com" }
      ])
      const { known, restored } = yield* restore()
      assert.deepStrictEqual(statuses(known), ["Unsubscribed", undefined])
      assert.deepStrictEqual([restored.carried.stopped, restored.carried.returning], [1, 1])
      const { known: lifted } = yield* restore({ resubscribe: true })
      assert.deepStrictEqual(statuses(lifted), ["Active", undefined])
    })
  )

  it.live("is every key where no store is replaced, and none if they are revoked", () =>
    Effect.gen(function* () {
      const { restore, to, was } = yield* changed
      const made = yield* restore({}, `${to}.new`)
      assert.deepStrictEqual(made.known.keys, was.keys)
      assert.deepStrictEqual([made.restored.carried.knowsKeys, made.restored.carried.credentials], [false, 2])
      const revoked = yield* restore({ revokeKeys: true }, `${to}.other`)
      assert.deepStrictEqual([revoked.known.keys.size, revoked.restored.carried.hasKey], [0, false])
      assert.deepStrictEqual(entriesOf(revoked.known), [
        ["Done", "ci", { levelsRemoved: [...levels] }],
        ["Done", "shop", { levelsRemoved: [...levels] }]
      ])
      const over = yield* restore({ revokeKeys: true })
      assert.deepStrictEqual([over.known.keys.size, statuses(over.known)], [0, ["Unsubscribed", "Abuse"]])
      // A store that has never had a key says nothing about them.
      yield* after(`${to}.fresh`, [], new Set())
      const fresh = yield* restore({}, `${to}.fresh`)
      assert.deepStrictEqual(fresh.known.keys, was.keys)
    })
  )

  it.live("is no link of an export that has ended since", () =>
    Effect.gen(function* () {
      const to = yield* freshPath
      const from = join(dirname(to), "backup.db")
      const [ended, open] = yield* Effect.gen(function* () {
        yield* take({ _tag: "Create", name: "ci" }, new Set())
        const contacts = yield* ContactsService
        return yield* Effect.forEach([1, 2], () =>
          Effect.gen(function* () {
            const { id, link } = yield* contacts.export()
            yield* Effect.repeat(contacts.exportStatus(id), {
              schedule: Schedule.spaced("10 millis"),
              until: (status) => status === "Ready"
            })
            return { id, secret: link.split("/").at(-2) ?? "" }
          })
        ).pipe(Effect.provideService(Caller, { account: "", serviceUrl: () => "http://localhost" }))
      }).pipe(Effect.provide(services(to)))
      const opens = Effect.forEach([ended, open], (link) =>
        Effect.isSuccess(openFile(link?.secret ?? "", "127.0.0.1"))
      ).pipe(Effect.provide(services(to)))
      assert.deepStrictEqual(yield* opens, [true, true])
      yield* StoreBackup.create({ from: to, to: from })
      yield* renewLink(ended?.id ?? "").pipe(Effect.provide(services(to)))
      yield* StoreBackup.restore({ from, to })
      assert.deepStrictEqual(yield* opens, [false, true])
    })
  )

  it.live("is no entry less where the numbers of the two trails part", () =>
    Effect.gen(function* () {
      const { from, now, restore, to } = yield* changed
      const other = `${to}.other`
      yield* restore({}, other)
      const { trail } = yield* after(other, [{ _tag: "Delete", name: "shop" }], new Set())
      yield* StoreBackup.create({ from: to, to: from, replace: true })
      const { known } = yield* restore({}, other)
      for (const [number, entry] of now.trail) assert.strictEqual(known.trail.get(number), entry)
      const entries = [...known.trail.values()].map((entry) => ({ ...JSON.parse(entry), number: 0 }))
      for (const entry of trail.values()) assert.deepInclude(entries, { ...JSON.parse(entry), number: 0 })
    })
  )

  it.live("is the same from a store of the first version, which is left as it was", () =>
    Effect.gen(function* () {
      const { restore, to } = yield* changed
      const first = `${to}.first`
      yield* useSql({ filename: first }, (sql) =>
        Effect.andThen(
          Effect.provideService(migrateTo(1), SqlClient.SqlClient, sql),
          sql`INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
            SELECT '', value ->> 0, value ->> 0, value ->> 1, '{"A":"1","a":"2"}', 'ContactApi', 1
            FROM json_each('[["ann@example.com","Unsubscribed"],["bob@example.com","Abuse"]]')`
        )
      )
      const { known, restored } = yield* restore({}, first)
      assert.deepStrictEqual(statuses(known), ["Unsubscribed", "Abuse"])
      assert.deepStrictEqual(
        [known.keys.size, restored.carried.knowsKeys, restored.carried.auditEntries],
        [2, false, 0]
      )
      const kept = yield* useSql(
        { filename: restored.kept ?? "" },
        (sql) => sql`SELECT migration_id FROM migrations`.values
      )
      assert.deepStrictEqual(kept, [[1]])
    })
  )
})
