import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, filesIn, json, jsonOf } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"

describe("roster contacts export", () => {
  it.live("write a file for its owner alone, and replace none unless told", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["contacts", "import", "-"], { input: "Email,City\nann@example.com,Köln\nbob@example.com,Bonn\n" })
      const target = join(folder, "out.csv")

      const exported = yield* run(["contacts", "export", "--out", "out.csv"])
      assert.strictEqual(exported.code, 0, exported.stderr)
      assert.deepStrictEqual(json(exported), { file: "out.csv", bytes: statSync(target).size, contacts: 2 })
      assert.strictEqual(statSync(target).mode & 0o777, 0o600)
      assert.match(readFileSync(target, "utf8"), /^Email,.*City\r\nann@example\.com,.*Köln\r\nbob@example\.com,/)

      const again = yield* run(["contacts", "export", "--out", "out.csv"])
      assert.deepStrictEqual([again.code, failure(again).code], [2, "UsageError"])
      const forced = yield* run(["contacts", "export", "--email", "bob@example.com", "--out", "out.csv", "--force"])
      assert.strictEqual(forced.code, 0, forced.stderr)
      assert.notInclude(readFileSync(target, "utf8"), "ann@")
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.endsWith(".tmp")),
        []
      )
    })
  )

  it.live("print the file where none is named", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      yield* run(["contacts", "import", "-"], { input: "Email\nann@example.com\nbob@example.com\n" })
      const everybody = yield* run(["contacts", "export", "--format", "json", "--out", "-"])
      assert.strictEqual(jsonOf<ReadonlyArray<unknown>>(everybody).length, 2)
      const byRule = yield* run(["contacts", "export", "--rule", "email starts-with 'ann'", "--format", "xml"])
      assert.match(byRule.stdout, /^<\?xml[^]*<Contacts>[^]*ann@example\.com/)
      assert.notInclude(byRule.stdout, "bob@")
      assert.match((yield* run(["contacts", "export", "--zip"])).stdout, /^PK/)
      const both = yield* run(["contacts", "export", "--rule", "All", "--email", "ann@example.com"])
      assert.deepStrictEqual([both.code, failure(both).code], [2, "ConflictingFilter"])
    })
  )

  it.live("have the columns, the delimiter and the list that are asked for", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["contacts", "import", "-", "--list", "News"], { input: "Email,City\nann@example.com,Köln\n" })
      yield* run(["contacts", "add", "bob@example.com", "--list", "News", "--field", "plan=pro"])
      yield* run(["contacts", "add", "cat@example.com"])
      const shaped = ["--columns", "city,email", "--delimiter", ";"]
      const some = yield* run(["contacts", "export", ...shaped])
      assert.strictEqual(some.stdout, "City;Email\r\nKöln;ann@example.com\r\n;bob@example.com\r\n;cat@example.com\r\n")
      const on = yield* run(["contacts", "export", ...shaped, "--on", "news", "--bom", "--out", "news.csv"])
      assert.deepInclude(json(on), { contacts: 2 }, on.stderr)
      assert.strictEqual(
        readFileSync(join(folder, "news.csv"), "utf8"),
        "\ufeffCity;Email\r\nKöln;ann@example.com\r\n;bob@example.com\r\n"
      )
      const whole = yield* run(["contacts", "export", "--email", "bob@example.com"])
      const alone = yield* run(["contacts", "export", "--on", "News", "--rule", "plan = 'pro'"])
      assert.strictEqual(alone.stdout, whole.stdout)
      const typo = yield* run(["contacts", "export", "--columns", "Email,Citty"])
      assert.strictEqual(typo.code, 2)
      assert.include(typo.stderr, "no contact has Citty")
      for (const flags of [["--zip"], ["--format", "xml"]]) {
        for (const given of [["--bom"], ["--on", "News"]]) {
          assert.strictEqual((yield* run(["contacts", "export", ...given, ...flags])).code, 2)
        }
      }
    })
  )

  it.live("hold no formula unless they are told to keep them", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const text = "x;=1+1\n-2"
      yield* run(["contacts", "add", "ann@example.com", "--first-name", text, "--field", "f='=x"])
      const safe = yield* run(["contacts", "export"])
      assert.include(safe.stdout, `"'x;'=1+1\n'-2"`)
      const kept = yield* run(["contacts", "export", "--formulas", "keep"])
      assert.include(kept.stdout, `"${text}"`)
      assert.match(kept.stdout, /,f\r\n[^]*,'=x\r\n$/)
      yield* run(["contacts", "import", "-"], { input: safe.stdout })
      assert.strictEqual((yield* run(["contacts", "export"])).stdout.split(",")[2], safe.stdout.split(",")[2])
      for (const flags of [["--zip"], ["--format", "json"], ["--out", "a.xml"]]) {
        const refused = yield* run(["contacts", "export", "--formulas", "keep", ...flags])
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      }
    })
  )

  it.live("come from the given address where the name in their link leads nowhere, which is said", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder, ["--public-url", "http://roster.invalid/v4"])
      yield* run(["contacts", "add", "ann@example.com"], { env })
      const exported = yield* run(["contacts", "export"], { env })
      assert.strictEqual(exported.code, 0, exported.stderr)
      assert.include(exported.stdout, "ann@example.com")
      assert.match(
        exported.stderr,
        new RegExp(
          `^The link of the export leads nowhere: roster\\.invalid .*comes from ${new URL(address).host}, .*\n$`
        )
      )
    })
  )

  it.live("have the format that the name of their file promises, and our own ZIP is imported", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      yield* run(["contacts", "import", "-"], { input: "Email,City\nann@example.com,Köln\nbob@example.com,Bonn\n" })
      for (const [out, start] of [
        ["a.json", "["],
        ["a.XML", "<?xml"],
        ["a.csv.zip", "PK"],
        ["a.zip", "PK"],
        ["a.txt", "Email,"]
      ] as const) {
        const exported = yield* run(["contacts", "export", "--out", out])
        assert.strictEqual(exported.code, 0, exported.stderr)
        assert.isTrue(readFileSync(join(folder, out), "latin1").startsWith(start), out)
      }
      for (const args of [
        ["--out", "b.json", "--format", "csv"],
        ["--out", "b.csv", "--zip"]
      ]) {
        const refused = yield* run(["contacts", "export", ...args])
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"], refused.stderr)
      }
      assert.notInclude(readdirSync(folder), "b.json")

      const before = json(yield* run(["contacts", "get", "ann@example.com"]))
      yield* run(["contacts", "delete", "--rule", "All", "--yes", "--confirm", "2"])
      for (const args of [["a.csv.zip"], ["a.csv.zip", "--via", "file"], ["-"]]) {
        const input = args[0] === "-" ? readFileSync(join(folder, "a.csv.zip")) : ""
        const imported = yield* run(["contacts", "import", ...args], { input })
        assert.strictEqual(imported.code, 0, imported.stderr)
        assert.include(imported.stdout, '"read":2')
      }
      const after = json(yield* run(["contacts", "get", "ann@example.com"]))
      assert.deepStrictEqual(Object(after).CustomFields, Object(before).CustomFields)
      writeFileSync(join(folder, "cut.zip"), readFileSync(join(folder, "a.csv.zip")).subarray(0, 100))
      const cut = yield* run(["contacts", "import", "cut.zip"])
      assert.deepStrictEqual([cut.code, failure(cut).code], [2, "UnreadableFile"])
    })
  )

  it.live.each(["Error", "Expired"])("end with 10 where the job is in state %s, and leave no file", (state) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, requests } = yield* fakeService((request, response) => {
        const isStatus = request.url?.endsWith("/status") === true
        const body = isStatus ? state : { Link: "http://127.0.0.1:9/v4/x", PublicExportID: id }
        response.writeHead(isStatus ? 200 : 202, { "Content-Type": "application/json" }).end(JSON.stringify(body))
      })
      const exported = yield* run(["contacts", "export", "--out", "out.csv"], { env })
      assert.deepStrictEqual([exported.code, exported.stdout], [10, ""])
      assert.deepStrictEqual(filesIn(folder), [])

      // A file that cannot be written is found out before anything is asked of the service.
      requests.length = 0
      writeFileSync(join(folder, "mine.csv"), "mine")
      assert.strictEqual((yield* run(["contacts", "export", "--out", "mine.csv"], { env })).code, 2)
      assert.strictEqual((yield* run(["contacts", "export", "--out", "absent/out.csv"], { env })).code, 2)
      assert.deepStrictEqual(requests, [])
    })
  )
})
