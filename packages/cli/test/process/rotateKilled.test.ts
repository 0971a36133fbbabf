import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { ended, json, jsonOf, longRun, start } from "../roster.ts"
import { keyUser, type Place, quick, records, stoppingProxy } from "../rotating.ts"
import { serveWithKey } from "../service.ts"

/** What the service has done, and the program does not know. */
const places: ReadonlyArray<Place> = [
  { method: "POST", number: 1, when: "after" },
  { method: "DELETE", number: 1, when: "after" },
  { method: "PUT", number: 1, when: "after" }
]

const otherPlaces: ReadonlyArray<Place> = [
  { method: "GET", number: 1, when: "before" },
  { method: "POST", number: 1, when: "before" },
  { method: "GET", number: 3, when: "before" },
  { method: "DELETE", number: 1, when: "before" },
  { method: "PUT", number: 1, when: "before" }
]

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
            const args = ["apikeys", "rotate", name, "--out", out, ...quick]
            const killed = start(folder, args, through)
            proxy.stopAt(place, killed)
            assert.strictEqual((yield* Effect.promise(() => ended(killed))).code, null, where)
            proxy.stopAt(undefined, undefined)
            const resumed = yield* run(args, { env: through })
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
        const names = jsonOf<ReadonlyArray<{ Name: string }>>(yield* run(["apikeys", "list"], { env }))
        assert.strictEqual(names.filter(({ Name }) => Name.startsWith(name)).length, 1, where)
        assert.strictEqual((statSync(out).mode & 0o777).toString(8), "600")
      }
      const { files, state } = records(folder)
      assert.strictEqual(files.length, places.length)
      for (const file of files) assert.include(readFileSync(join(state, file), "utf8"), "Ended")
    })

  it.live("killed after every change and run again, never leaves a program without a key that works", () =>
    killedAt(places)
  )

  it.live.skipIf(!longRun)(
    "killed before every step and run again, never leaves a program without a key that works (nightly)",
    () => killedAt(otherPlaces)
  )

  it.live("killed after a command has taken the secret, keeps what the command was given", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const created = yield* run(["apikeys", "create", "ci", "--for", "contacts:read"], { env })
      const key = join(folder, "ci.key")
      writeFileSync(key, jsonOf<{ Token: string }>(created).Token)
      const { seen, until } = yield* keyUser(address, key)
      // Takes the secret, and the first time kills whoever gave it before it can hear of that.
      const script = join(folder, "take.sh")
      writeFileSync(
        script,
        `cat > "${key}.new" && mv "${key}.new" "${key}"\n[ -e "${folder}/again" ] || kill -9 $PPID\n`
      )
      const args = ["apikeys", "rotate", "ci", "--exec", `. "${script}"`, ...quick]
      const killed = yield* Effect.promise(() => ended(start(folder, args, env)))
      assert.strictEqual(killed.code, null)
      const taken = readFileSync(key, "utf8").trim()
      yield* until(() => seen.keys.has(taken))
      writeFileSync(join(folder, "again"), "")
      const resumed = yield* run(args, { env })
      assert.deepStrictEqual(json(resumed), { ok: true, name: "ci", resumed: true })
      assert.strictEqual(readFileSync(key, "utf8").trim(), taken)
      assert.strictEqual(seen.refused, 0)
    })
  )
})
