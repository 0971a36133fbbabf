import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { basename, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { serveWithKey, stop } from "../service.ts"

const emailsOf = (listed: { readonly stdout: string }) =>
  jsonOf<ReadonlyArray<{ readonly Email: string }>>({ stdout: listed.stdout }).map(({ Email }) => Email)

/** A folder with a store of one contact. */
const withStore = Effect.gen(function* () {
  const { folder, run } = yield* makeRosterHere
  const added = yield* run(["contacts", "add", "ann@example.com", "--db", "a.db"])
  assert.strictEqual(added.code, 0, added.stderr)
  return { folder, run }
})

const filesLike = (folder: string, part: string) => readdirSync(folder).filter((name) => name.includes(part))

describe("roster backup", () => {
  it.live("writes one verified file, readable by its owner only, and prints what it holds", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const made = yield* run(["backup", "b.db", "--db", "a.db"])
      assert.deepStrictEqual([made.code, made.stderr], [0, ""])
      const { size, mode } = statSync(join(folder, "b.db"))
      assert.deepStrictEqual(json(made), { ok: true, file: "b.db", bytes: size, contacts: 1 })
      assert.strictEqual(mode & 0o777, 0o600)
      // Two bytes of the header say that no WAL belongs to it: it opens where nothing can be written.
      assert.deepStrictEqual([...readFileSync(join(folder, "b.db")).subarray(18, 20)], [1, 1])
      assert.deepStrictEqual(filesLike(folder, "b.db"), ["b.db"])
    })
  )

  it.live("replaces a file only with --force, and then atomically", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      writeFileSync(join(folder, "b.db"), "precious")
      const refused = yield* run(["backup", "b.db", "--db", "a.db"])
      assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      assert.strictEqual(readFileSync(join(folder, "b.db"), "utf8"), "precious")
      const replaced = yield* run(["backup", "b.db", "--db", "a.db", "--force"])
      assert.strictEqual(replaced.code, 0, replaced.stderr)
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "b.db"])), ["ann@example.com"])
    })
  )

  it.live("never takes the place of a store, its own or one that is in use", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const itself = yield* run(["backup", "./a.db", "--db", "a.db", "--force"])
      assert.strictEqual(itself.code, 8)
      assert.match(failure(itself).message, /the store itself/)
      const other = new DatabaseSync(join(folder, "other.db"))
      other.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
      const taken = yield* run(["backup", "other.db", "--db", "a.db", "--force"])
      other.close()
      assert.match(failure(taken).message, /in use/)
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "a.db"])), ["ann@example.com"])
    })
  )

  it.live("takes the place of no store and no part of one, by name or by link, and so does no other file", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { child, env } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com"], { env })
      yield* run(["contacts", "add", "idle@example.com", "--db", "idle.db"])
      symlinkSync(folder, join(folder, "link"))
      const linked = ["-wal", "-shm"].map((suffix) => {
        linkSync(join(folder, `served.db${suffix}`), join(folder, `hard${suffix.slice(1)}`))
        return `hard${suffix.slice(1)}`
      })
      const parts = ["", "-wal", "-shm", "-journal"].flatMap((suffix) => [`served.db${suffix}`, `idle.db${suffix}`])
      for (const part of [...parts, ...parts.map((part) => `link/${part}`), ...linked]) {
        const key = yield* run(["serve", "--db", "new.db", "--port", "0", "--key-file", part])
        assert.strictEqual(key.code, 2, `${part}: ${key.stdout}`)
        const before = filesLike(folder, "db")
        for (const from of ["served.db", "idle.db"]) {
          const refused = yield* run(["backup", part, "--db", from, "--force"])
          assert.strictEqual(refused.code, 8, `${from} to ${part}: ${refused.stdout}`)
        }
        const exported = yield* run(["contacts", "export", "--out", part, "--force"], { env })
        assert.strictEqual(exported.code, 2, `${part}: ${exported.stdout}`)
        assert.match(failure(exported).message, /belongs to a store and was not changed/)
        assert.deepStrictEqual(filesLike(folder, "db"), before)
      }
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list"], { env })), ["ann@example.com"])
      yield* stop(child, "SIGKILL")
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "served.db"])), ["ann@example.com"])
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "idle.db"])), ["idle@example.com"])
    })
  )

  it.live("needs a folder, a store that is there, and one of this machine", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const nowhere = yield* run(["backup", "absent/b.db", "--db", "a.db"])
      assert.deepStrictEqual([nowhere.code, failure(nowhere).code], [2, "FileProblem"])
      mkdirSync(join(folder, "dir"))
      assert.strictEqual((yield* run(["backup", "dir", "--db", "a.db", "--force"])).code, 2)
      const absent = yield* run(["backup", "b.db", "--db", "absent.db"])
      assert.deepStrictEqual([absent.code, failure(absent).code], [5, "NoStore"])
      assert.isFalse(existsSync(join(folder, "absent.db")))
      const remote = yield* run(["backup", "b.db"], {
        env: { ROSTER_BASE_URL: "http://127.0.0.1:1/v4", ROSTER_API_KEY: "test-key" }
      })
      assert.deepStrictEqual([remote.code, failure(remote).code], [2, "UsageError"])
      assert.deepStrictEqual(filesLike(folder, "b.db"), [])
    })
  )
})

interface Kept {
  readonly file: string
  readonly removed: ReadonlyArray<string>
}

const processMarkFile = new URL("../../../server/src/store/ProcessMark.ts", import.meta.url).href

describe("roster backup --keep", () => {
  it.live("adds the time to the name, and keeps as many as asked for, by their names", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      writeFileSync(join(folder, "n-20260101T000000000Z.db.txt"), "not of the series")
      yield* run(["backup", "other-20260101T000000000Z.db", "--db", "a.db"])
      yield* run(["backup", "n-20260101T000000000Z.db", "--db", "a.db"])
      // Written last, and named as the oldest: its name decides.
      yield* run(["backup", "n-20250101T000000000Z.db", "--db", "a.db"])
      const first = yield* run(["backup", "n.db", "--db", "a.db", "--keep", "3"])
      assert.deepStrictEqual([first.code, first.stderr], [0, ""])
      const { file, removed } = jsonOf<Kept>(first)
      assert.match(file, /^n-\d{8}T\d{9}Z\.db$/)
      assert.deepStrictEqual(removed, [])
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", file])), ["ann@example.com"])
      // That look has left it a backup. What is written makes it a store, and nobody would expect it to be removed.
      yield* run(["contacts", "add", "bob@example.com", "--db", file])
      const written = yield* run(["backup", "n.db", "--db", "a.db", "--keep", "1"])
      assert.strictEqual(written.code, 8, written.stdout)
      rmSync(join(folder, file))
      const second = yield* run(["backup", "n.db", "--db", "a.db", "--keep", "2"])
      assert.strictEqual(second.code, 0, second.stderr)
      const { file: newest, removed: oldest } = jsonOf<Kept>(second)
      assert.deepStrictEqual(
        oldest.map((path) => basename(path)),
        ["n-20250101T000000000Z.db"]
      )
      assert.sameMembers(filesLike(folder, "2"), [
        "n-20260101T000000000Z.db",
        "n-20260101T000000000Z.db.txt",
        "other-20260101T000000000Z.db",
        newest
      ])
    })
  )

  it.live("writes and removes nothing while a file of such a name is no backup", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const odd = "n-20260101T000000000Z.db"
      const refuses = Effect.fnUntraced(function* (what: string) {
        const before = readdirSync(folder)
        const refused = yield* run(["backup", "n.db", "--db", "a.db", "--keep", "1"])
        assert.deepStrictEqual([refused.code, failure(refused).code], [8, "StoreUnavailable"], what)
        assert.include(failure(refused).message, `${odd} cannot be used. It has the name of an earlier backup`)
        assert.deepStrictEqual(readdirSync(folder), before, what)
        rmSync(join(folder, odd), { recursive: true })
      })
      writeFileSync(join(folder, odd), "precious")
      yield* refuses("a text")
      mkdirSync(join(folder, odd))
      yield* refuses("a folder")
      symlinkSync("a.db", join(folder, odd))
      yield* refuses("a link to a store")
      const other = new DatabaseSync(join(folder, odd))
      other.exec("CREATE TABLE t (x)")
      other.close()
      yield* refuses("the database of another program")
      yield* run(["contacts", "add", "bob@example.com", "--db", odd])
      yield* refuses("a store")
      const both = yield* run(["backup", "n.db", "--db", "a.db", "--keep", "1", "--force"])
      assert.strictEqual(both.code, 2)
    })
  )

  it.live("removes nothing if the new one is not there", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      for (const day of ["01", "02"]) yield* run(["backup", `n-202601${day}T000000000Z.db`, "--db", "a.db"])
      writeFileSync(join(folder, "a.db"), "damaged")
      const failed = yield* run(["backup", "n.db", "--db", "a.db", "--keep", "1"])
      assert.strictEqual(failed.code, 8)
      assert.lengthOf(filesLike(folder, "n-2026"), 2)
    })
  )

  it.live("removes what a killed one has left", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const killed = Effect.sync(() => {
        const script =
          `const { processMark } = await import(${JSON.stringify(processMarkFile)});` +
          `(await import("node:fs")).writeFileSync("n.db." + processMark + "x.partial", "")`
        execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder })
      })
      yield* killed
      assert.lengthOf(filesLike(folder, ".partial"), 1)
      yield* run(["backup", "n.db", "--db", "a.db", "--keep", "1"])
      assert.lengthOf(filesLike(folder, ".partial"), 0)
    })
  )
})

/** A store that has taken the first step only, as it was written then, with pages of another size. */
const firstVersion = `
  PRAGMA page_size = 8192;
  CREATE TABLE contacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, identity TEXT NOT NULL, email TEXT NOT NULL,
    status TEXT NOT NULL, first_name TEXT, last_name TEXT, custom_fields TEXT NOT NULL, consent_ip TEXT,
    consent_date BIGINT, consent_tracking TEXT, source TEXT NOT NULL, date_added BIGINT NOT NULL, date_updated BIGINT,
    status_change_date BIGINT, total_sent INTEGER NOT NULL DEFAULT 0, total_opened INTEGER NOT NULL DEFAULT 0,
    total_clicked INTEGER NOT NULL DEFAULT 0, total_failed INTEGER NOT NULL DEFAULT 0, last_sent BIGINT,
    last_opened BIGINT, last_clicked BIGINT, last_failed BIGINT, last_ip TEXT, error_code INTEGER,
    friendly_error_message TEXT, UNIQUE (account, identity));
  CREATE TABLE lists (
    id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (account, name));
  CREATE TABLE list_members (
    list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    contact_id BIGINT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE, PRIMARY KEY (list_id, contact_id));
  CREATE INDEX list_members_by_contact ON list_members (contact_id);
  CREATE TABLE migrations (
    migration_id INTEGER PRIMARY KEY NOT NULL, created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    name VARCHAR(255) NOT NULL);
  INSERT INTO migrations (migration_id, name) VALUES (1, 'contacts');
  INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
  VALUES ('', 'old@example.com', 'old@example.com', 'Active', '{}', 'ContactApi', 1)`

describe("roster restore", () => {
  it.live("refuses a store that is served, and names the process; afterwards it keeps the old content", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { child, env } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com"], { env })
      assert.strictEqual((yield* run(["backup", "b.db", "--db", "served.db"])).code, 0)
      yield* run(["contacts", "delete", "ann@example.com", "--yes"], { env })
      yield* run(["contacts", "add", "bob@example.com"], { env })
      yield* run(["contacts", "add", "cy@example.com"], { env })

      const before = readdirSync(folder)
      for (const flag of ["--yes", "--dry-run"]) {
        const refused = yield* run(["restore", "b.db", "--db", "served.db", flag])
        assert.deepStrictEqual([refused.code, failure(refused).code], [8, "StoreUnavailable"])
        const who = process.platform === "linux" ? `process ${child.pid} (` : "another process"
        assert.include(failure(refused).message, `served.db is in use by ${who}`)
        assert.sameMembers(readdirSync(folder), before)
      }
      assert.strictEqual(emailsOf(yield* run(["contacts", "list"], { env })).length, 2)
      assert.strictEqual(yield* stop(child, "SIGTERM"), 0)

      const restored = yield* run(["restore", "b.db", "--db", "served.db", "--yes"])
      assert.strictEqual(restored.code, 0, restored.stderr)
      const { kept, ...counts } = jsonOf<{ readonly kept: string }>(restored)
      assert.deepStrictEqual<unknown>(counts, {
        ok: true,
        contacts: 1,
        replacedContacts: 2,
        credentials: 1,
        statusesKept: 0
      })
      const emailsIn = (file: string) => Effect.map(run(["contacts", "list", "--db", file]), emailsOf)
      assert.deepStrictEqual(yield* emailsIn("served.db"), ["ann@example.com"])
      assert.strictEqual(statSync(kept).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* emailsIn(kept), ["bob@example.com", "cy@example.com"])
      // What was kept is a backup, too.
      assert.strictEqual((yield* run(["restore", kept, "--db", "served.db", "--yes"])).code, 0)
      assert.strictEqual((yield* emailsIn("served.db")).length, 2)
      assert.deepStrictEqual(filesLike(folder, ".restoring"), [])
    })
  )

  it.live("replaces the store that a link leads to", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      mkdirSync(join(folder, "disk"))
      assert.strictEqual((yield* run(["restore", "a.db", "--db", "disk/real.db", "--yes"])).code, 0)
      symlinkSync(join("disk", "real.db"), join(folder, "link.db"))
      yield* run(["backup", "b.db", "--db", "a.db"])
      yield* run(["contacts", "add", "bob@example.com", "--db", "link.db"])
      const restored = yield* run(["restore", "b.db", "--db", "link.db", "--yes"])
      assert.strictEqual(restored.code, 0, restored.stderr)
      assert.isTrue(lstatSync(join(folder, "link.db")).isSymbolicLink())
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "disk/real.db"])), ["ann@example.com"])
      assert.strictEqual(filesLike(join(folder, "disk"), ".before-restore-").length, 1)
    })
  )

  it.live("makes a store that is not there", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      yield* run(["backup", "b.db", "--db", "a.db"])
      const made = yield* run(["restore", "b.db", "--db", "new.db", "--yes"])
      assert.deepStrictEqual(json(made), {
        ok: true,
        contacts: 1,
        replacedContacts: null,
        credentials: 0,
        statusesKept: 0,
        kept: null
      })
      assert.strictEqual(statSync(join(folder, "new.db")).mode & 0o777, 0o600)
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "new.db"])), ["ann@example.com"])
    })
  )

  it.live("asks first, and declines without a terminal", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      yield* run(["backup", "b.db", "--db", "a.db"])
      yield* run(["contacts", "add", "bob@example.com", "--db", "a.db"])
      const declined = yield* run(["restore", "b.db", "--db", "a.db"])
      assert.deepStrictEqual([declined.code, failure(declined).code], [3, "Declined"])
      assert.match(failure(declined).message, /2 contacts, by the 1 contact of b\.db/)
      assert.strictEqual(emailsOf(yield* run(["contacts", "list", "--db", "a.db"])).length, 2)
      assert.deepStrictEqual([...filesLike(folder, "-restore-"), ...filesLike(folder, ".restoring")], [])
    })
  )

  it.live("shows what would come back that must not, and brings it back by its flags only", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const change = (...args: ReadonlyArray<string>) =>
        Effect.map(run([...args, "--db", "a.db"]), ({ code, stderr }) => assert.strictEqual(code, 0, stderr))
      yield* change("apikeys", "create", "ci", "--access", "Export")
      yield* change("backup", "b.db")
      yield* change("apikeys", "delete", "ci", "--yes")
      yield* change("apikeys", "create", "made", "--access", "Export")
      yield* change("contacts", "add", "ann@example.com", "--status", "Unsubscribed")
      yield* change("contacts", "add", "bob@example.com", "--status", "Abuse")
      const says = (...args: ReadonlyArray<string>) =>
        Effect.map(run(["restore", "b.db", ...args]), ({ stderr }) => stderr.trimEnd().split("\n"))
      const declined = yield* says("--db", "a.db")
      assert.deepStrictEqual(declined.slice(0, -1), [
        "Keys of the backup that this store does not have stay revoked: ci. To bring them back, add --bring-back-keys.",
        "Keys that are not in the backup are lost: made",
        "The next roster serve creates a new administrator key.",
        "Contacts that get no mail any more keep their status: 1",
        "Contacts that get no mail and are not in the backup keep their address and status: 1",
        "Entries of the audit trail that are not in the backup stay: 4"
      ])
      assert.deepStrictEqual((yield* says("--db", "a.db", "--quiet")).slice(0, -1), declined.slice(0, -1))
      const asked = yield* says("--db", "a.db", "--dry-run", "--bring-back-keys", "--resubscribe")
      assert.include(asked, "Keys of the backup that this store does not have work again: ci")
      assert.include(asked, "Contacts that get no mail any more get the status of the backup: 1")
      assert.include(asked, "Contacts that get no mail and are not in the backup keep their address and status: 1")
      const named = yield* says("--db", "a.db", "--dry-run", "--resubscribe", "Abuse")
      assert.include(named, "Contacts that get no mail any more keep their status: 1")
      assert.include(named, "Contacts that get no mail and are not in the backup are forgotten: 1")
      const fresh = yield* says("--db", "new.db", "--dry-run")
      assert.include(
        fresh.join(),
        "All API keys and SMTP credentials of the backup work again, also those that were deleted or rotated since: 1. " +
          "To start with none, add --revoke-keys."
      )
      assert.isFalse(existsSync(join(folder, "new.db")))
      const both = yield* run(["restore", "b.db", "--db", "new.db", "--yes", "--revoke-keys", "--bring-back-keys"])
      assert.strictEqual(both.code, 2)
      const without = yield* run(["restore", "b.db", "--db", "new.db", "--yes", "--revoke-keys"])
      assert.deepInclude(json(without), { contacts: 1, credentials: 0 })
      assert.deepStrictEqual(json(yield* run(["apikeys", "list", "--db", "new.db"])), [])

      const restored = yield* run(["restore", "b.db", "--db", "a.db", "--yes"])
      assert.deepInclude(json(restored), { contacts: 1, credentials: 0, statusesKept: 2 })
      const listed = yield* run(["contacts", "list", "--db", "a.db"])
      assert.deepStrictEqual(
        jsonOf<ReadonlyArray<{ readonly Email: string; readonly Status: string }>>(listed).map((contact) => [
          contact.Email,
          contact.Status
        ]),
        [
          ["ann@example.com", "Unsubscribed"],
          ["bob@example.com", "Abuse"]
        ]
      )
    })
  )

  it.live("takes no file that is not a whole store of this version or an earlier one", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      yield* run(["backup", "good.db", "--db", "a.db"])
      const good = readFileSync(join(folder, "good.db"))
      const make = (name: string, statements: string, bytes?: Buffer) => {
        if (bytes !== undefined) writeFileSync(join(folder, name), bytes)
        const database = new DatabaseSync(join(folder, name))
        database.exec(statements)
        database.close()
      }
      make("newer.db", "INSERT INTO migrations (migration_id, name) VALUES (4711, 'later')", good)
      make("other.db", "CREATE TABLE t (x)")
      writeFileSync(join(folder, "text.db"), "Email\nann@example.com\n".repeat(100))
      writeFileSync(join(folder, "empty.db"), "")
      writeFileSync(join(folder, "cut.db"), good.subarray(0, good.length - 4096))
      writeFileSync(join(folder, "damaged.db"), Buffer.from(good).fill(0, 8192, 12_288))
      const reasons: ReadonlyArray<readonly [name: string, reason: RegExp]> = [
        ["newer.db", /newer version/],
        ["other.db", /no store of Roster/],
        ["text.db", /is damaged/],
        ["empty.db", /no store of Roster/],
        ["cut.db", /is damaged/],
        ["damaged.db", /is damaged/],
        ["absent.db", /no such file/]
      ]
      for (const [name, reason] of reasons) {
        const before = existsSync(join(folder, name)) ? readFileSync(join(folder, name)) : undefined
        const refused = yield* run(["restore", name, "--db", "a.db", "--yes"])
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, "BackupRefused"], refused.stderr)
        assert.match(failure(refused).message, reason)
        assert.include(failure(refused).message, name)
        if (before !== undefined) assert.isTrue(readFileSync(join(folder, name)).equals(before), name)
        assert.deepStrictEqual(filesLike(folder, name), before === undefined ? [] : [name])
      }
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "a.db"])), ["ann@example.com"])
      assert.deepStrictEqual([...filesLike(folder, "a.db.")], [])
      const foreign = yield* run(["restore", "good.db", "--db", "other.db", "--yes"])
      assert.deepStrictEqual([foreign.code, failure(foreign).code], [8, "StoreUnavailable"])
      assert.match(failure(foreign).message, /another program/)
    })
  )

  it.live("prints in a dry run what it would do, and does nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      assert.strictEqual((yield* run(["backup", "b.db", "--db", "a.db"])).code, 0)
      yield* run(["contacts", "add", "bob@example.com", "--db", "a.db"])
      const before = readdirSync(folder)
      const dry = yield* run(["restore", "b.db", "--db", "a.db", "--dry-run", "-o", "table"])
      assert.strictEqual(dry.code, 0, dry.stderr)
      assert.match(dry.stdout, /Would replace this store, with 2 contacts, by the 1 contact of b\.db/)
      assert.strictEqual(emailsOf(yield* run(["contacts", "list", "--db", "a.db"])).length, 2)
      assert.sameMembers(readdirSync(folder), before)
    })
  )

  it.live("brings a backup of an earlier version up to this one before it takes its place", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withStore
      const old = new DatabaseSync(join(folder, "old.db"))
      old.exec(firstVersion)
      old.close()
      const restored = yield* run(["restore", "old.db", "--db", "a.db", "--yes"])
      assert.strictEqual(restored.code, 0, restored.stderr)
      const store = new DatabaseSync(join(folder, "a.db"))
      assert.isDefined(store.prepare("SELECT name FROM sqlite_schema WHERE name = 'idempotent_answers'").get())
      store.close()
      assert.deepStrictEqual(emailsOf(yield* run(["contacts", "list", "--db", "a.db"])), ["old@example.com"])
    })
  )
})
