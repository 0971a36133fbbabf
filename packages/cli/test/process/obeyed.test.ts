import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { failure, json } from "../roster.ts"

const hasModes = process.getuid !== undefined
const isRoot = process.getuid?.() === 0

describe("a plan that is named", () => {
  it.live.skipIf(!hasModes)("is refused if others can change it, and is read through links", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      yield* run(["contacts", "add", "ann@example.com", "--db", "a.db"])
      const refused = (file: string) => Effect.map(run(["contacts", "apply", file, "--db", "a.db"]), failure)
      const file = join(folder, "real")
      writeFileSync(file, "unfit", { mode: 0o600 })
      symlinkSync("real", join(folder, "link"))
      const { code, message } = yield* refused("link")
      assert.strictEqual(code, "UnreadablePlan")
      assert.notInclude(message, "is not trusted")
      // In a folder in which others can write, such as that for temporary files, they cannot put a file of this user.
      chmodSync(folder, 0o1777)
      assert.notInclude((yield* refused("real")).message, "is not trusted")
      for (const mode of [0o620, 0o602]) {
        chmodSync(file, mode)
        for (const name of ["real", "link"]) {
          const { code, hint, message } = yield* refused(name)
          assert.deepStrictEqual([code, message], ["UsageError", `${name} is not trusted: other users can change it.`])
          assert.include(hint, `chmod 600 ${name}`)
        }
      }
      mkdirSync(join(folder, "folder"))
      symlinkSync("/dev/zero", join(folder, "device"))
      assert.match((yield* refused("folder")).message, /folder/)
      assert.match((yield* refused("device")).message, /a device|read more than once/)
      if (!isRoot) return
      chmodSync(file, 0o600)
      chownSync(file, 12_345, 12_345)
      assert.include((yield* refused("link")).message, "it belongs to another user (uid 12345)")
    })
  )

  it.live("is applied through a link to a file of this user", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      writeFileSync(join(folder, "people.csv"), "Email\nann@example.com\n")
      yield* run(["contacts", "import", "people.csv", "--plan", "plan.json", "--db", "a.db"])
      assert.include(readFileSync(join(folder, "plan.json"), "utf8"), "ann@example.com")
      symlinkSync("plan.json", join(folder, "link"))
      const applied = yield* run(["contacts", "apply", "link", "--db", "a.db"])
      assert.deepInclude(json(applied), { new: 1 })
    })
  )
})

describe("a folder that keeps what commands read again", () => {
  it.live.skipIf(!isRoot)("is closed to others, and refused if it belongs to another user (as root)", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const state = join(folder, ".local/state/roster")
      mkdirSync(state, { recursive: true })
      chmodSync(state, 0o777)
      writeFileSync(join(folder, "people.csv"), "Email\nann@example.com\n")
      const imports = run(["contacts", "import", "people.csv", "--db", "a.db"])
      assert.deepInclude(json(yield* imports), { new: 1 })
      assert.strictEqual(statSync(state).mode & 0o777, 0o700)
      chownSync(state, 12_345, 12_345)
      const { hint, message } = failure(yield* imports)
      assert.strictEqual(message, `${state} belongs to another user (uid 12345), who could change what is kept in it.`)
      assert.include(hint, "set HOME")
    })
  )
})
