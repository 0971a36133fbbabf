import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { ended, failure, json, jsonOf, start } from "../roster.ts"
import { hasSaid, quick, records } from "../rotating.ts"
import { serveWithKey } from "../service.ts"

describe("roster apikeys rotate", () => {
  it.live("stops when interrupted, says how to resume, and delivers no second secret", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["apikeys", "create", "ci", "--for", "export"])
      const args = ["apikeys", "rotate", "ci", "--out", "ci.key", "--idle", "1h", "--db", join(folder, "store.db")]
      const child = start(folder, args)
      const end = ended(child)
      yield* hasSaid(child, /waiting/)
      // Somebody else cannot begin the same meanwhile.
      const second = yield* run(["apikeys", "rotate", "ci", "--out", "other.key", ...quick])
      assert.deepStrictEqual([second.code, failure(second).code], [6, "RunTaken"], second.stderr)
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130)
      assert.include(stopped.stderr, `roster apikeys rotate ci --out ci.key --idle 1h`)
      const secret = readFileSync(join(folder, "ci.key"), "utf8")

      const { files, state } = records(folder)
      assert.strictEqual(files.length, 1)
      const file = join(state, files[0] ?? "")
      assert.deepStrictEqual(
        [statSync(state).mode & 0o777, statSync(file).mode & 0o777].map((mode) => mode.toString(8)),
        ["700", "600"]
      )
      assert.notInclude(readFileSync(file, "utf8"), secret.trim())
      // It is no run of contacts, and no undo of the last one means it.
      assert.deepStrictEqual(json(yield* run(["contacts", "runs", "-o", "json"])), [])
      const undone = failure(yield* run(["contacts", "undo", "last", "--yes"]))
      assert.include(undone.message, "There is no run on")
      const resumed = yield* run(["apikeys", "rotate", "ci", "--out", "ci.key", ...quick])
      assert.deepStrictEqual(json(resumed), { ok: true, name: "ci", resumed: true })
      assert.strictEqual(readFileSync(join(folder, "ci.key"), "utf8"), secret)
    })
  )

  it.live("resumed with another destination, says where the secret went and changes nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      for (const [name, first, other, went] of [
        ["ci", ["--out", "first.key"], ["--out", "second.key"], join(folder, "first.key")],
        ["given", ["--exec", "cat > given.key"], ["--out", "second.key"], "the command of --exec"],
        ["said", ["--out", "said.key"], [], join(folder, "said.key")]
      ] as const) {
        yield* run(["apikeys", "create", name, "--for", "export"])
        const args = ["apikeys", "rotate", name, ...first, "--idle", "1h", "--db", join(folder, "store.db")]
        const child = start(folder, args)
        const end = ended(child)
        yield* hasSaid(child, /waiting/)
        child.kill("SIGINT")
        assert.strictEqual((yield* Effect.promise(() => end)).code, 130)
        const refused = yield* run(["apikeys", "rotate", name, ...other, ...quick])
        assert.strictEqual(failure(refused).code, "RotationRefused", refused.stderr)
        assert.include(failure(refused).message, went)
        assert.isFalse(existsSync(join(folder, "second.key")))
        const resumed = yield* run(["apikeys", "rotate", name, ...first, ...quick])
        assert.deepStrictEqual(json(resumed), { ok: true, name, resumed: true })
      }
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
      const names = keys.map(({ Name }) => Name)
      assert.include(names, "ci")
      assert.isTrue(names.some((name) => /^ci~next-[0-9a-f]{8}$/.test(name)))
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
      assert.match(removal?.actor.name ?? "", new RegExp(`^${Name}~next-[0-9a-f]{8}$`))
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
      // It has ended, whatever a process does that it left behind.
      const untaken = yield* run(["apikeys", "rotate", "ci", "--exec", "sleep 600 & exit 7", ...quick])
      assert.deepStrictEqual([untaken.code, failure(untaken).code], [9, "NotDelivered"])
      assert.deepStrictEqual(json(yield* run(["apikeys", "list"])), before)
      const both = yield* run(["apikeys", "rotate", "ci", "--exec", "cat", "--out", "f"])
      assert.strictEqual(both.code, 2)
      const short = yield* run(["apikeys", "rotate", "ci", "--idle", "2h", "--grace", "1h"])
      assert.strictEqual(short.code, 2)
      const dry = yield* run(["apikeys", "rotate", "ci", "--dry-run"])
      assert.deepStrictEqual(json(dry), { dryRun: true, state: "Fresh" })
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
      assert.match(name, /^shop\+\d{8}-[0-9a-f]{8}@example\.com$/)
      const [login, secret, end] = readFileSync(join(folder, "shop.login"), "utf8").split("\n")
      assert.strictEqual(login, name)
      assert.match(secret ?? "", /^rostersmtp_\S{20,}$/)
      assert.strictEqual(end, "")
      const [left, ...others] = jsonOf<ReadonlyArray<{ Name: string; Expires: string }>>(yield* run(["smtp", "list"]))
      assert.deepStrictEqual([left?.Name, others.length], [name, 0])
      const late = Date.parse(left?.Expires ?? "") - Date.parse(old.Expires)
      assert.isTrue(late >= 0 && late < 3_600_000, `${left?.Expires} after ${old.Expires}`)
      const longer = yield* run(["smtp", "rotate", name, "--out", "shop.login", "--expires", "2090-01-01", ...quick])
      assert.strictEqual(longer.code, 0, longer.stderr)
      const expires = jsonOf<ReadonlyArray<{ Expires?: string }>>(yield* run(["smtp", "list"]))[0]?.Expires
      assert.match(expires ?? "", /^2090-01-01/)
    })
  )
})
