import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { hash } from "node:crypto"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { ended, failure, json, jsonOf, start } from "../roster.ts"
import { hasSaid, journals, quick } from "../rotating.ts"
import { serveWithKey } from "../service.ts"

describe("roster apikeys rotate", () => {
  it.live("stops when interrupted, says how to resume, and recognises the file that it wrote", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const args = ["apikeys", "rotate", "ci", "--out", "ci.key", "--idle", "1h", "--db", join(folder, "store.db")]
      const child = start(folder, args)
      const end = ended(child)
      yield* hasSaid(child, /waiting/)
      // Somebody else cannot begin the same meanwhile.
      const second = yield* run(["apikeys", "rotate", "ci", "--out", "other.key", ...quick])
      assert.strictEqual(second.code, 2, second.stderr)
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130)
      assert.include(stopped.stderr, `roster apikeys rotate ci --out ci.key --idle 1h`)
      const secret = readFileSync(join(folder, "ci.key"), "utf8")

      const { files, state } = journals(folder)
      assert.strictEqual(files.length, 1)
      const file = join(state, files[0] ?? "")
      assert.deepStrictEqual(
        [statSync(state).mode & 0o777, statSync(file).mode & 0o777].map((mode) => mode.toString(8)),
        ["700", "600"]
      )
      const entry = JSON.parse(readFileSync(file, "utf8"))
      assert.notInclude(JSON.stringify(entry), secret.trim())
      // What a kill leaves between the writing of the file and the note of it.
      entry.record.phase = "Started"
      entry.delivered = hash("sha256", secret)
      writeFileSync(file, JSON.stringify(entry))
      const resumed = yield* run(["apikeys", "rotate", "ci", "--out", "ci.key", ...quick])
      assert.deepStrictEqual(json(resumed), { ok: true, name: "ci", resumed: true })
      assert.strictEqual(readFileSync(join(folder, "ci.key"), "utf8"), secret)
    })
  )

  it.live("resumed with another destination, writes the secret there or says where it went", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      /** A rotation that is interrupted while it waits, when its secret has been delivered. */
      const begun = Effect.fnUntraced(function* (name: string, to: ReadonlyArray<string>) {
        yield* run(["apikeys", "create", name, "--for", "export"])
        const args = ["apikeys", "rotate", name, ...to, "--idle", "1h", "--db", join(folder, "store.db")]
        const child = start(folder, args)
        const end = ended(child)
        yield* hasSaid(child, /waiting/)
        child.kill("SIGINT")
        assert.strictEqual((yield* Effect.promise(() => end)).code, 130)
      })
      const secretIn = (file: string) => readFileSync(join(folder, file), "utf8")

      yield* begun("ci", ["--out", "first.key"])
      const moved = yield* run(["apikeys", "rotate", "ci", "--out", "second.key", ...quick])
      assert.strictEqual(moved.code, 0, moved.stderr)
      assert.include(moved.stderr, join(folder, "first.key"))
      assert.strictEqual(secretIn("second.key"), secretIn("first.key"))
      assert.strictEqual(statSync(join(folder, "second.key")).mode & 0o777, 0o600)

      yield* begun("lost", ["--out", "lost.key"])
      rmSync(join(folder, "lost.key"))
      const lost = yield* run(["apikeys", "rotate", "lost", "--out", "other.key", ...quick])
      assert.deepStrictEqual([lost.code, failure(lost).code], [2, "UsageError"])
      assert.include(failure(lost).message, join(folder, "lost.key"))
      assert.strictEqual((yield* run(["apikeys", "get", "lost"])).code, 0)

      yield* begun("given", ["--exec", "cat > given.key"])
      const given = yield* run(["apikeys", "rotate", "given", "--out", "given.out", ...quick])
      assert.deepStrictEqual([given.code, failure(given).code], [2, "UsageError"])
      assert.include(failure(given).message, "passed to the command of an earlier run")
      const resumed = yield* run(["apikeys", "rotate", "given", "--exec", "cat > never.key", ...quick])
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      assert.isFalse(existsSync(join(folder, "never.key")))

      yield* begun("said", ["--out", "said.key"])
      const said = yield* run(["apikeys", "rotate", "said", ...quick])
      assert.strictEqual(said.code, 0, said.stderr)
      assert.include(said.stderr, join(folder, "said.key"))
    })
  )

  it.live("ends with 9 and keeps both where the old one is used on", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const created = yield* run(["apikeys", "create", "ci", "--for", "contacts:read,export,apikeys:read,smtp:write"], {
        env
      })
      const { Token } = jsonOf<{ Token: string }>(created)
      const child = start(folder, ["apikeys", "rotate", "ci", "--out", "ci.key", "--idle", "6s", "--grace", "7s"], env)
      const end = ended(child)
      yield* hasSaid(child, /waiting/)
      // A use is noted once a minute for each level, so that each of these is seen.
      for (const [method, path] of [
        ["GET", "/contacts?limit=1"],
        ["GET", "/security/smtp"],
        ["DELETE", "/security/smtp/nobody%40example.com"]
      ] as const) {
        const noticed = Effect.raceFirst(
          hasSaid(child, /ci was used again/),
          Effect.promise(() => end)
        )
        const use = Effect.promise(() => fetch(`${address}${path}`, { method, headers: { "X-Service-ApiKey": Token } }))
        yield* Effect.all([noticed, use], { concurrency: "unbounded" })
      }
      const still = yield* Effect.promise(() => end)
      assert.deepStrictEqual([still.code, failure(still).code], [9, "StillInUse"], still.stderr)
      assert.strictEqual(failure(still).resume, "roster apikeys rotate ci --out ci.key --idle 6s --grace 7s")
      const keys = jsonOf<ReadonlyArray<{ Name: string }>>(yield* run(["apikeys", "list"], { env }))
      assert.includeMembers(
        keys.map(({ Name }) => Name),
        ["ci", "ci~next"]
      )
    })
  )

  it.live("rotates the key that it uses itself, and continues with the new one", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, key, keyFile } = yield* serveWithKey(folder)
      const on = ["--base-url", address, "--api-key-file", keyFile]
      const [{ Name } = { Name: "" }] = jsonOf<ReadonlyArray<{ Name: string }>>(yield* run(["apikeys", "list", ...on]))
      const rotated = yield* run(["apikeys", "rotate", Name, "--out", keyFile, ...quick, ...on])
      assert.strictEqual(rotated.code, 0, rotated.stderr)
      assert.notStrictEqual(readFileSync(keyFile, "utf8").trim(), key)
      assert.strictEqual((yield* run(["apikeys", "list", ...on])).code, 0)
      const trail = jsonOf<ReadonlyArray<{ operation: string; actor: { name?: string } }>>(
        yield* run(["audit", "list", "--db", join(folder, "served.db")])
      )
      const removal = trail.find(({ operation }) => operation === "securityApikeysByNameDelete")
      assert.strictEqual(removal?.actor.name, `${Name}~next`)
    })
  )

  it.live("K05 creates nothing if the secret cannot be written, and deletes a key that the command did not take", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const before = json(yield* run(["apikeys", "list"]))
      mkdirSync(join(folder, "taken"))
      for (const out of ["taken", join("nowhere", "ci.key")]) {
        const refused = yield* run(["apikeys", "rotate", "ci", "--out", out, ...quick])
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.notInclude(refused.stderr, "made")
      }
      const untaken = yield* run(["apikeys", "rotate", "ci", "--exec", "exit 7", ...quick])
      assert.deepStrictEqual([untaken.code, failure(untaken).code], [9, "NotDelivered"])
      assert.deepStrictEqual(json(yield* run(["apikeys", "list"])), before)
      const both = yield* run(["apikeys", "rotate", "ci", "--exec", "cat", "--out", "f"])
      assert.strictEqual(both.code, 2)
      const short = yield* run(["apikeys", "rotate", "ci", "--idle", "2h", "--grace", "1h"])
      assert.strictEqual(short.code, 2)
      const dry = yield* run(["apikeys", "rotate", "ci", "--dry-run"])
      assert.deepStrictEqual(json(dry), { dryRun: true, state: "Fresh", successor: "ci~next" })
      assert.deepStrictEqual(json(yield* run(["apikeys", "list"])), before)
    })
  )

  it.live("K04 gives a secret to a command by its standard input alone, and prints it where nothing else is said", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const script = join(folder, "seen.sh")
      writeFileSync(
        script,
        `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > env\ntr '\\0' ' ' < /proc/$PPID/cmdline > argv\necho "$0 $@" >> argv\ncat > secret\necho words\n`
      )
      chmodSync(script, 0o755)
      const args = ["apikeys", "rotate", "ci", "--exec", script, ...quick, "--db", join(folder, "store.db")]
      const given = yield* Effect.promise(() => ended(start(folder, args)))
      assert.strictEqual(given.code, 0, given.stderr)
      const secret = readFileSync(join(folder, "secret"), "utf8").trim()
      assert.match(secret, /^roster_\S{20,}$/)
      assert.notInclude(readFileSync(join(folder, "env"), "utf8") + readFileSync(join(folder, "argv"), "utf8"), secret)
      assert.notInclude(given.stdout + given.stderr, secret)
      assert.include(given.stderr, "words")
      const printed = yield* run(["apikeys", "rotate", "ci", ...quick])
      assert.match(jsonOf<{ Token: string }>(printed).Token, /^roster_\S{20,}$/)
      assert.notInclude(printed.stderr, jsonOf<{ Token: string }>(printed).Token)
    })
  )
})

describe("roster smtp rotate", () => {
  it.live("writes the new login and its secret, and leaves one", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const created = yield* run(["smtp", "create", "shop@example.com", "--expires", "30d"])
      const { Token: _, ...old } = jsonOf<{ Token: string; Expires: string }>(created)
      const rotated = yield* run(["smtp", "rotate", "shop@example.com", "--out", "shop.login", ...quick])
      assert.strictEqual(rotated.code, 0, rotated.stderr)
      const { name } = jsonOf<{ name: string }>(rotated)
      assert.match(name, /^shop\+\d{8}@example\.com$/)
      const [login, secret, end] = readFileSync(join(folder, "shop.login"), "utf8").split("\n")
      assert.strictEqual(login, name)
      assert.match(secret ?? "", /^rostersmtp_\S{20,}$/)
      assert.strictEqual(end, "")
      const [left, ...others] = jsonOf<ReadonlyArray<{ Name: string; Expires: string }>>(yield* run(["smtp", "list"]))
      assert.deepStrictEqual([left?.Name, left?.Expires, others.length], [name, old.Expires, 0])
    })
  )
})
