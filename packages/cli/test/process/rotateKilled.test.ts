import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { ended, failure, jsonOf, longRun, type Roster, start } from "../roster.ts"
import { age, keyUser, type Place, stoppingProxy } from "../rotating.ts"
import { serveWithKey } from "../service.ts"

/** What the service has done, and the program does not know. */
const places: ReadonlyArray<Place> = [
  { method: "POST", number: 1, when: "after" },
  { method: "PUT", number: 1, when: "after" },
  { method: "PUT", number: 2, when: "after" }
]

const otherPlaces: ReadonlyArray<Place> = [
  { method: "GET", number: 1, when: "before" },
  { method: "POST", number: 1, when: "before" },
  { method: "GET", number: 3, when: "before" },
  { method: "PUT", number: 1, when: "before" },
  { method: "PUT", number: 2, when: "before" }
]

/** Runs again as cron does, the next time after a quarter of an hour. */
const untilDone = Effect.fnUntraced(function* (
  run: Roster["run"],
  args: ReadonlyArray<string>,
  folder: string,
  name: string,
  env: Record<string, string>
) {
  const again = yield* run(args, { env })
  if (again.code === 0) return again
  assert.deepStrictEqual([again.code, failure(again).code], [6, "RotationRefused"], again.stderr)
  assert.include(failure(again).message, `${name}~next`)
  age(join(folder, "served.db"), `${name}~next`)
  return yield* run(args, { env })
})

describe("roster apikeys rotate", () => {
  const killedAt = (places: ReadonlyArray<Place>) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const proxy = yield* stoppingProxy(address)
      const through = { ...env, ROSTER_BASE_URL: proxy.address }
      for (const [index, place] of places.entries()) {
        const where = `killed ${place.when} ${place.method} ${place.number}`
        const name = `ci-${index}`
        const out = join(folder, `${name}.key`)
        const created = yield* run(["apikeys", "create", name, "--for", "contacts:read"], { env })
        assert.strictEqual(created.code, 0, created.stderr)
        const { Token } = jsonOf<{ Token: string }>(created)
        writeFileSync(out, `${Token}\n`)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { seen, until } = yield* keyUser(address, out)
            const args = ["apikeys", "rotate", name, "--out", out]
            const killed = start(folder, args, through)
            proxy.stopAt(place, killed)
            assert.strictEqual((yield* Effect.promise(() => ended(killed))).code, null, where)
            proxy.stopAt(undefined, undefined)
            const resumed = yield* untilDone(run, args, folder, name, through)
            assert.strictEqual(resumed.code, 0, `${where}: ${resumed.stderr}`)
            assert.include(jsonOf<object>(resumed), { ok: true, name }, where)
            const [before, requests] = [seen.refused, seen.requests]
            yield* until(() => seen.requests >= requests + 3)
            assert.strictEqual(before, 0, where)
            assert.strictEqual(seen.refused, 0, where)
            assert.isTrue(seen.keys.has(readFileSync(out, "utf8").trim()), where)
            assert.notStrictEqual(readFileSync(out, "utf8").trim(), Token, where)
          })
        )
        const names = jsonOf<ReadonlyArray<{ Name: string; Expires?: string }>>(
          yield* run(["apikeys", "list"], { env })
        )
        const left = names.filter(({ Name }) => Name.startsWith(name))
        assert.strictEqual(left.filter(({ Name }) => Name === name).length, 1, where)
        for (const { Expires, Name } of left.filter(({ Name }) => Name !== name)) {
          assert.match(Name, /~old-\d{4}-\d\d-\d\d(?:\.\d)?$/, where)
          assert.isString(Expires, where)
        }
        assert.strictEqual((statSync(out).mode & 0o777).toString(8), "600")
      }
    })

  it.live("killed after every change and run again, never leaves a program without a key that works", () =>
    killedAt(places)
  )

  it.live.skipIf(!longRun)(
    "killed before every step and run again, never leaves a program without a key that works (nightly)",
    () => killedAt(otherPlaces)
  )

  it.live("killed after a command has taken the secret, lets that secret work until the next one is taken", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const created = yield* run(["apikeys", "create", "ci", "--for", "contacts:read"], { env })
      const key = join(folder, "ci.key")
      writeFileSync(key, jsonOf<{ Token: string }>(created).Token)
      const { seen, until } = yield* keyUser(address, key)
      // Takes the secret, and the first time kills the command that gave it before that can hear of it.
      const script = join(folder, "take.sh")
      writeFileSync(
        script,
        `cat > "${key}.new" && mv "${key}.new" "${key}"\n[ -e "${folder}/again" ] || kill -9 $PPID\n`
      )
      const args = ["apikeys", "rotate", "ci", "--exec", `. "${script}"`, "--grace", "0"]
      const killed = yield* Effect.promise(() => ended(start(folder, args, env)))
      assert.strictEqual(killed.code, null)
      const taken = readFileSync(key, "utf8").trim()
      yield* until(() => seen.keys.has(taken))
      writeFileSync(join(folder, "again"), "")
      const rotated = yield* untilDone(run, args, folder, "ci", env)
      assert.strictEqual(rotated.code, 0, rotated.stderr)
      const next = readFileSync(key, "utf8").trim()
      assert.notStrictEqual(next, taken)
      yield* until(() => seen.keys.has(next))
      assert.strictEqual(seen.refused, 0)
    })
  )
})
