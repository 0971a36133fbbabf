/**
 * An import and a delete on a store that others use, killed at random moments and gone on with, then their undo, killed
 * likewise: in the end the contacts are what the others alone would have made of them, with their lists.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { DatabaseSync, type SQLOutputValue } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { amount, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { runRoster } from "./RosterCommand.ts"

type Row = Record<string, SQLOutputValue>

interface Place {
  readonly folder: string
  readonly filename: string
}

const place = Effect.acquireRelease(
  Effect.sync((): Place => {
    const folder = mkdtempSync(join(tmpdir(), "roster-undo-"))
    return { folder, filename: join(folder, "store.db") }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** All of the contacts by their address, each with the names of its lists. */
const contentOf = ({ filename }: Place): Map<string, Row> => {
  using database = new DatabaseSync(filename, { readOnly: true, timeout: 10_000 })
  const lists = new Map<SQLOutputValue | undefined, Array<SQLOutputValue | undefined>>()
  const members = database.prepare(
    "SELECT contact_id, name FROM list_members JOIN lists ON lists.id = list_id ORDER BY contact_id, name"
  )
  for (const { contact_id: contact, name } of members.all()) {
    lists.set(contact, [...(lists.get(contact) ?? []), name])
  }
  const rows = database.prepare("SELECT * FROM contacts ORDER BY id").all()
  return new Map(rows.map((row) => [String(row["identity"]), { ...row, lists: (lists.get(row["id"]) ?? []).join() }]))
}

/** How many runs the store has, and how many changes of them. */
const recordedIn = ({ filename }: Place): number => {
  using database = new DatabaseSync(filename, { readOnly: true, timeout: 10_000 })
  return Number(
    database.prepare("SELECT count(*) + coalesce(sum(changes), 0) AS recorded FROM runs").get()?.["recorded"]
  )
}

const email = (index: number) => `c${index}@example.com`

const statuses = ["Active", "Engaged", "Unsubscribed", "Bounced", "Stale", "NotConfirmed"]

describe("an undo", () => {
  const contacts = amount({ ci: 1200, long: 20_000 })
  const kills = amount({ ci: 2, long: 4 })

  it.live(
    `of killed runs on ${contacts} contacts brings back what others did not change, and nothing else`,
    () =>
      Effect.gen(function* () {
        const at = yield* place
        const random = seededRandom(runSeed("undo of killed runs"))
        const below = (bound: number) => Math.floor(random() * bound)
        const roster = (args: ReadonlyArray<string>, killOnce?: () => boolean) =>
          runRoster(at, args, killOnce === undefined ? {} : { killOnce })
        const succeed = Effect.fnUntraced(function* (args: ReadonlyArray<string>, codes = [0]) {
          const end = yield* roster(args)
          assert.include(codes, end.code, `roster ${args.join(" ")}: ${end.stderr}`)
          return end
        })

        // A store in which every column has something.
        const base = join(at.folder, "base.csv")
        writeFileSync(
          base,
          `Email,FirstName,city\n${Array.from({ length: contacts }, (_, i) => `${email(i)},A${i},x`).join("\n")}\n`
        )
        yield* succeed(["contacts", "import", base, "--no-record", "--list", "Old"])
        const writeNow = (use: (database: DatabaseSync) => void): void => {
          using database = new DatabaseSync(at.filename, { timeout: 10_000 })
          database.exec("BEGIN IMMEDIATE")
          use(database)
          database.exec("COMMIT")
        }
        const write = (use: (database: DatabaseSync) => void) => Effect.sync(() => writeNow(use))
        yield* write((database) => {
          const vary = database.prepare(
            `UPDATE contacts SET status = ?, first_name = ?, consent_ip = ?, consent_tracking = ?, source = ?, date_added = ?,
              date_updated = ?, status_change_date = ?, total_sent = ?, last_sent = ?, last_ip = ?, error_code = ?,
              email = ? WHERE identity = ?`
          )
          const leave = database.prepare(
            "DELETE FROM list_members WHERE contact_id = (SELECT id FROM contacts WHERE identity = ?)"
          )
          const remove = database.prepare("DELETE FROM contacts WHERE identity = ?")
          const maybe = <A>(value: A): A | null => (below(2) === 0 ? value : null)
          for (let i = 0; i < contacts; i++) {
            const date = 1_000_000_000 + i
            vary.run(
              statuses[below(statuses.length)] ?? "Active",
              maybe(`First ${i}`),
              maybe("192.0.2.1"),
              maybe("Allow"),
              below(2) === 0 ? "WebForm" : "ContactApi",
              date,
              maybe(date + 1),
              maybe(date + 2),
              below(9),
              maybe(date + 3),
              maybe("192.0.2.2"),
              maybe(below(500)),
              below(4) === 0 ? email(i).toUpperCase() : email(i),
              email(i)
            )
            if (below(2) === 0) leave.run(email(i))
            if (below(20) === 0) remove.run(email(i))
          }
        })
        const before = contentOf(at)

        // What is due if the others alone had been at work. Their dates are like no others.
        const due = new Map([...before].map(([identity, row]) => [identity, { ...row }]))
        let edits = 0
        const someone = (): string => email(below(contacts))
        /** Others change what the run does not write, at any time. */
        const edit = (): void => {
          const identity = someone()
          const date = 1_500_000_000 + ++edits
          writeNow((database) => {
            const [row] = database
              .prepare(
                "UPDATE contacts SET last_name = ?, date_updated = ? WHERE identity = ? RETURNING id, last_name, date_updated"
              )
              .all(`Other ${edits}`, date, identity)
            const known = due.get(identity)
            // One that the import added again is the import's.
            if (row !== undefined && known !== undefined) due.set(identity, { ...known, ...row })
            else if (row !== undefined) touched.add(identity)
          })
        }
        /** Contacts of the runs that others changed, which stay as they are. */
        const touched = new Set<string>()

        /** Runs a command until it ends by itself. Others edit when its record grows, or it is killed then. */
        const killed = { import: 0, delete: 0, undo: 0 }
        const untilDone = Effect.fnUntraced(function* (
          what: keyof typeof killed,
          args: () => Effect.Effect<ReadonlyArray<string>>,
          mostEdits: number,
          codes: ReadonlyArray<number>,
          times = kills
        ) {
          for (let kill = 0; kill < times; kill++) {
            const some = yield* args()
            edit()
            let last = recordedIn(at)
            // The first one dies once its run has begun.
            let left = kill === 0 ? 0 : below(mostEdits + 1)
            const killOnce = () => {
              const now = recordedIn(at)
              if (now === last) return false
              last = now
              if (left > 0) edit()
              return left-- === 0
            }
            const end = yield* roster(some, killOnce)
            if (end.code === null) killed[what]++
            assert.include([null, ...codes], end.code, end.stderr)
          }
          return yield* succeed(yield* args(), [...codes])
        })

        // The import changes, leaves and adds contacts, and puts all of them on a list.
        const file = join(at.folder, "import.csv")
        const row = (i: number) => {
          const given = below(3) === 0 ? `B${i}` : ""
          return `${email(i)},${given},${statuses[below(3)]},${below(2) === 0 ? "x" : `y${i}`}`
        }
        const rows = Array.from({ length: Math.ceil(contacts * 1.2) }, (_, i) => i).filter(() => below(4) > 0)
        writeFileSync(file, `Email,FirstName,Status,city\n${rows.map(row).join("\n")}\n`)
        const importing = ["contacts", "import", file, "--list", "New", "--list", "Old", "--create-list"]
        yield* untilDone("import", () => Effect.succeed(importing), 1, [0])
        const gone = Array.from({ length: 40 }, someone)
        // One that is killed late has deleted all of them, and the next finds none.
        yield* untilDone(
          "delete",
          () => Effect.succeed(["contacts", "delete", ...gone, "--yes"]),
          0,
          [0, 5],
          amount({ ci: 1, long: kills })
        )

        // Others write over what the runs wrote.
        const after = contentOf(at)
        yield* write((database) => {
          const lists = database.prepare(
            "SELECT name FROM list_members JOIN lists ON lists.id = list_id WHERE contact_id = ? ORDER BY name"
          )
          const rowOf = database.prepare("SELECT * FROM contacts WHERE identity = ?")
          for (let i = 0; i < 60; i++) {
            const identity = email(below(Math.ceil(contacts * 1.2)))
            const date = 1_600_000_000 + i
            const was = due.get(identity)
            switch (below(3)) {
              case 0: {
                const now = rowOf.get(identity)
                if (now === undefined) break
                database
                  .prepare("UPDATE contacts SET first_name = 'Theirs', date_updated = ? WHERE identity = ?")
                  .run(date, identity)
                if (was === undefined) touched.add(identity)
                else due.set(identity, { ...was, first_name: "Theirs", date_updated: date })
                break
              }
              case 1:
                database.prepare("DELETE FROM contacts WHERE identity = ?").run(identity)
                if (after.has(identity)) {
                  due.delete(identity)
                  touched.delete(identity)
                }
                break
              case 2: {
                if (rowOf.get(identity) !== undefined || was === undefined) break
                // With a status that no run gave: a value that others gave identically counts as that of the run.
                database
                  .prepare(
                    `INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
                      VALUES ('', ?, ?, 'Transactional', '{}', 'WebForm', ?)`
                  )
                  .run(identity, identity, Math.floor(Date.now() / 1000) + 3600)
                const now = rowOf.get(identity)
                if (now !== undefined) due.set(identity, { ...now, lists: lists.all(Number(now["id"])).join() })
              }
            }
          }
        })
        // The newest run first.
        const runs: ReadonlyArray<{ readonly id: string }> = JSON.parse((yield* succeed(["contacts", "runs"])).stdout)
        assert.isAtLeast(runs.length, 2)
        for (const [index, { id }] of runs.entries()) {
          const undoing = ["contacts", "undo", id, "--resubscribe"]
          const args = Effect.fnUntraced(function* () {
            const { stdout } = yield* succeed([...undoing, "--dry-run"], [0, 9])
            const { changed, deleted, new: added } = Object(JSON.parse(stdout))
            // A run that was killed before it noted who gave a status cannot tell; here nobody else did.
            return [...undoing, "--yes", "--confirm", String(added + changed + deleted)]
          })
          // Others may change the number in between, and then it is asked for again.
          // The newest dies as often as the import did, and of the others the oldest once.
          yield* untilDone(
            "undo",
            args,
            1,
            [0, 3, 9],
            index === 0 ? kills : amount({ ci: index === runs.length - 1 ? 1 : 0, long: kills })
          )
          const {
            changed,
            deleted,
            new: added
          } = Object(JSON.parse((yield* succeed([...undoing, "--dry-run"], [0, 9])).stdout))
          assert.deepStrictEqual([added, changed, deleted], [0, 0, 0])
        }

        for (const [what, count] of Object.entries(killed)) assert.isAbove(count, 0, what)

        const found = contentOf(at)
        for (const identity of touched) {
          const row = found.get(identity)
          assert.isDefined(row, `${identity}, which others changed, is gone`)
          if (row !== undefined) due.set(identity, row)
        }
        const differences = [...new Set([...due.keys(), ...found.keys()])].flatMap((identity) => {
          const [one, other] = [due.get(identity), found.get(identity)]
          return JSON.stringify(one, columns) === JSON.stringify(other, columns) ? [] : [[one, other]]
        })
        assert.deepStrictEqual(differences.slice(0, 3), [])
        assert.strictEqual(found.size, due.size)
        // Paging counts the contacts that came back.
        const listed: ReadonlyArray<{ readonly Email: string }> = JSON.parse(
          (yield* succeed(["contacts", "list", "--all"])).stdout
        )
        assert.deepStrictEqual(
          listed.map(({ Email }) => Email),
          [...found.values()].map((row) => row["email"])
        )
      }).pipe(Effect.scoped),
    amount({ ci: 120_000, long: 3_600_000 })
  )
})

/** What an undo brings back. */
const columns = [
  "email",
  "status",
  "first_name",
  "last_name",
  "custom_fields",
  "consent_ip",
  "consent_date",
  "consent_tracking",
  "lists"
]
