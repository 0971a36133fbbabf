import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { ended, failure, json, jsonOf, start } from "../roster.ts"
import { serveWithKey } from "../service.ts"

interface Listed {
  readonly Name: string
  readonly Expires?: string
}

const names = (listed: ReadonlyArray<Listed>) => listed.map(({ Name }) => Name)

/** A command that says that it has begun, and ends once it may. */
const waiting = "touch begun; while [ ! -e go ]; do sleep 0.05; done"

const begun = (folder: string) =>
  Effect.promise(async () => {
    while (!existsSync(join(folder, "begun"))) await new Promise((done) => setTimeout(done, 20))
  })

describe("roster apikeys rotate", () => {
  it.live("gives a new secret now, says until when the old one works, and is one of two that run at once", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const db = ["--db", join(folder, "store.db")]
      const end = ended(
        start(folder, ["apikeys", "rotate", "ci", "--out", "ci.key", "--grace", "7d", "--verify", waiting, ...db])
      )
      yield* begun(folder)
      const second = yield* run(["apikeys", "rotate", "ci", "--out", "other.key"])
      assert.deepStrictEqual([second.code, failure(second).code], [6, "RotationRefused"], second.stderr)
      assert.include(failure(second).message, '"ci~next"')
      writeFileSync(join(folder, "go"), "")
      const first = yield* Effect.promise(() => end)
      assert.strictEqual(first.code, 0, first.stderr)
      const { old, ...said } = jsonOf<{ readonly old: ReadonlyArray<{ name: string; expires: string }> }>(first)
      assert.deepStrictEqual<object>(said, { ok: true, name: "ci", resumed: false })
      const listed = jsonOf<ReadonlyArray<Listed>>(yield* run(["apikeys", "list"]))
      assert.deepStrictEqual(names(listed), [old[0]?.name, "ci"])
      assert.strictEqual(listed[0]?.Expires, old[0]?.expires)
      assert.match(readFileSync(join(folder, "ci.key"), "utf8"), /^roster_\S{20,}\n$/)
      // It is no run of contacts.
      assert.deepStrictEqual(json(yield* run(["contacts", "runs", "-o", "json"])), [])
      // The grace grows by an update.
      const grown = yield* run(["apikeys", "update", old[0]?.name ?? "", "--expires", "30d"])
      assert.strictEqual(grown.code, 0, grown.stderr)
      const table = yield* run(["apikeys", "rotate", "ci", "--out", "ci.key", "-o", "table"])
      assert.match(
        table.stdout,
        /^Rotated: the new secret belongs to ci\.\n(?:The old secret works as ci~old-\S+ until \S+\.\n){2}$/
      )
    })
  )

  it.live("stops when interrupted, and deletes nothing where the new secret does not work", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const db = ["--db", join(folder, "store.db")]
      const child = start(folder, ["apikeys", "rotate", "ci", "--out", "ci.key", "--verify", waiting, ...db])
      const end = ended(child)
      yield* begun(folder)
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130)
      assert.include(stopped.stderr, "safe to run the same command again")

      yield* run(["apikeys", "create", "app", "--for", "export"])
      const failed = yield* run(["apikeys", "rotate", "app", "--out", "app.key", "--verify", "cat > given; exit 3"])
      assert.deepStrictEqual([failed.code, failure(failed).code], [9, "NotReplaced"], failed.stderr)
      assert.notInclude(failure(failed).message, "interrupted")
      for (const part of ["ended with 3", '"app"', '"app~next"']) assert.include(failure(failed).message, part)
      assert.strictEqual(
        `${readFileSync(join(folder, "given"), "utf8")}\n`,
        readFileSync(join(folder, "app.key"), "utf8")
      )
      const listed = jsonOf<ReadonlyArray<Listed>>(yield* run(["apikeys", "list"]))
      assert.deepStrictEqual(names(listed), ["ci", "ci~next", "app", "app~next"])
      assert.deepStrictEqual(
        listed.map(({ Expires }) => Expires !== undefined && Expires !== null),
        [false, false, false, true]
      )
    })
  )

  it.live("rotates the key that it uses itself, and says by its audit that a replaced key is still used", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, key, keyFile } = yield* serveWithKey(folder)
      const on = ["--base-url", address, "--api-key-file", keyFile]
      yield* run(["apikeys", "create", "unused", "--for", "export", ...on])
      const other = yield* run(["apikeys", "rotate", "unused", "--out", join(folder, "unused.key"), ...on])
      assert.deepStrictEqual([other.code, other.stderr], [0, ""])
      assert.strictEqual((yield* run(["apikeys", "audit", "--fail", ...on])).code, 0)
      const rotated = yield* run(["apikeys", "rotate", "administrator", "--out", keyFile, ...on])
      assert.strictEqual(rotated.code, 0, rotated.stderr)
      assert.notStrictEqual(readFileSync(keyFile, "utf8").trim(), key)
      assert.notInclude(rotated.stderr, "calls with")
      const listed = jsonOf<ReadonlyArray<Listed>>(yield* run(["apikeys", "list", ...on]))
      const old = names(listed).find((name) => name.startsWith("administrator~")) ?? ""
      assert.include(names(listed), "administrator")
      const trail = jsonOf<ReadonlyArray<{ operation: string; outcome: string; actor: { name?: string } }>>(
        yield* run(["audit", "list", "--db", join(folder, "served.db")])
      )
      const done = trail.filter(
        ({ operation, outcome }) => operation === "securityApikeysByNamePut" && outcome === "Done"
      )
      assert.sameMembers(
        done.map(({ actor }) => actor.name),
        ["administrator", "administrator", "administrator", "administrator~next"]
      )
      const used = yield* run(["apikeys", "audit", "--fail", ...on])
      assert.deepStrictEqual([used.code, failure(used).code], [9, "PartlyDone"], used.stderr)
      assert.include(failure(used).message, old)
      assert.include(used.stdout, "ReplacedInUse")
      const elsewhere = yield* run(["apikeys", "rotate", "administrator", "--out", join(folder, "new.key"), ...on])
      assert.include(elsewhere.stderr, `This command calls with administrator: put its new secret where ${keyFile} has`)
    })
  )

  it.live("K05 creates nothing if the secret cannot be written, and deletes a key that the command did not take", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const before = json(yield* run(["apikeys", "list"]))
      mkdirSync(join(folder, "taken"))
      for (const out of ["taken", join("nowhere", "ci.key")]) {
        const refused = yield* run(["apikeys", "rotate", "ci", "--out", out])
        assert.strictEqual(refused.code, 2, refused.stderr)
      }
      // It has ended, whatever a process does that it left behind.
      const untaken = yield* run(["apikeys", "rotate", "ci", "--exec", "sleep 600 & exit 7"])
      assert.deepStrictEqual([untaken.code, failure(untaken).code], [9, "NotDelivered"])
      assert.deepStrictEqual(json(yield* run(["apikeys", "list"])), before)
      for (const both of [
        ["--exec", "cat", "--out", "f"],
        ["--expires", "7d", "--no-expiry"]
      ]) {
        assert.strictEqual((yield* run(["apikeys", "rotate", "ci", ...both])).code, 2)
      }
      assert.deepStrictEqual(json(yield* run(["apikeys", "list"])), before)
    })
  )

  it.live(
    "K04 gives a secret to commands by their standard input alone, and prints it where nothing else is said",
    () =>
      Effect.gen(function* () {
        const { folder, run } = yield* makeLocalRosterHere
        yield* run(["apikeys", "create", "ci", "--for", "export"])
        const script = join(folder, "seen.sh")
        writeFileSync(
          script,
          `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ >> env\ntr '\\0' ' ' < /proc/$PPID/cmdline >> argv\necho "$0 $@" >> argv\ncat >> secret\necho words\n`
        )
        chmodSync(script, 0o755)
        const args = ["apikeys", "rotate", "ci", "--exec", script, "--verify", script, "--db", join(folder, "store.db")]
        const given = yield* Effect.promise(() => ended(start(folder, args)))
        assert.strictEqual(given.code, 0, given.stderr)
        // No line break ends what a command is given, so both stand in one line.
        const both = readFileSync(join(folder, "secret"), "utf8")
        const secret = both.slice(0, both.length / 2)
        assert.match(secret, /^roster_[^_\s]{20,}$/)
        assert.strictEqual(both, secret + secret)
        assert.notInclude(
          readFileSync(join(folder, "env"), "utf8") + readFileSync(join(folder, "argv"), "utf8"),
          secret
        )
        assert.notInclude(given.stdout + given.stderr, secret)
        assert.include(given.stderr, "words")
        const printed = yield* run(["apikeys", "rotate", "ci"])
        const { Name, Token } = jsonOf<{ Name: string; Token: string }>(printed)
        assert.strictEqual(Name, "ci")
        assert.match(Token, /^roster_\S{20,}$/)
        assert.notInclude(printed.stderr, Token)
        assert.include(printed.stderr, "The old secret works as ci~old-")
      })
  )
})

describe("roster smtp rotate", () => {
  it.live("writes the new login and its secret, and lets the old one end", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const created = yield* run(["smtp", "create", "shop@example.com", "--expires", "30d"])
      const { Token: _, ...old } = jsonOf<{ Token: string; Expires: string }>(created)
      const rotated = yield* run(["smtp", "rotate", "shop@example.com", "--out", "shop.login"])
      assert.strictEqual(rotated.code, 0, rotated.stderr)
      const { name } = jsonOf<{ name: string }>(rotated)
      assert.match(name, /^shop\+\d{8}@example\.com$/)
      const [login, secret, end] = readFileSync(join(folder, "shop.login"), "utf8").split("\n")
      assert.strictEqual(login, name)
      assert.match(secret ?? "", /^rostersmtp_\S{20,}$/)
      assert.strictEqual(end, "")
      const [replaced, left, ...others] = jsonOf<ReadonlyArray<Listed>>(yield* run(["smtp", "list"]))
      assert.deepStrictEqual([replaced?.Name, left?.Name, others.length], ["shop@example.com", name, 0])
      const late = Date.parse(left?.Expires ?? "") - Date.parse(old.Expires)
      assert.isTrue(late >= 0 && late < 3_600_000, `${left?.Expires} after ${old.Expires}`)
      assert.isBelow(Date.parse(replaced?.Expires ?? ""), Date.parse(old.Expires))
    })
  )
})
