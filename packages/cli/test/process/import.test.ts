import { reportOf } from "../report.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, makeRoster } from "../roster.ts"
import { fakeService, noContacts } from "../service.ts"

const csv = [
  '\ufeffeMail,FirstName,"City",Note',
  'ann@example.com,Ann,"Köln, Rhein","two\nlines"',
  "not-an-address,Bob,,",
  "cem@example.com,Cem,İzmir,",
  "ANN@example.com,Anna,Bonn,",
  "dee@example.com,Dee"
].join("\r\n")

describe("roster contacts import", () => {
  it.live("accounts for every row of a file, and says with 9 that some were rejected", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "contacts.csv"), csv)
      const imported = yield* run(["contacts", "import", "contacts.csv", "--list", "News"])
      assert.strictEqual(imported.code, 9, imported.stderr)
      const { began: _began, causes, ended: _ended, rejectedRows, run: _run, warnings, ...counts } = reportOf(imported)
      assert.deepStrictEqual(
        warnings.map(({ code, count }) => [code, count]),
        [["Active", 3]]
      )
      assert.deepStrictEqual<object>(counts, {
        command: "import",
        file: "contacts.csv",
        exitCode: 9,
        read: 5,
        done: 2,
        rejected: 2,
        duplicates: 1,
        duplicateRows: [{ line: 2, winner: 6 }],
        notSent: 0,
        unknown: 0,
        new: 2,
        changed: 0,
        deleted: 0,
        alreadySo: 0,
        unknownWhetherNew: 0,
        leftOut: 0,
        outdated: 0,
        outdatedContacts: [],
        statusesKept: 0,
        keptStatuses: [],
        newRecipients: { people: 2, added: 2 },
        rejectedFile: "contacts.csv.rejected.csv"
      })
      assert.deepStrictEqual(
        rejectedRows.map(({ line }) => line),
        [4, 7]
      )
      assert.strictEqual(
        causes.reduce((sum, { count }) => sum + count, 0),
        2
      )
      assert.strictEqual(failure(imported).code, "PartlyDone")

      const ann = json(yield* run(["contacts", "get", "ann@example.com"]))
      assert.deepNestedInclude(ann, { FirstName: "Anna", CustomFields: { City: "Bonn", Note: "two\nlines" } })
    })
  )

  it.live("reads standard input in the given encoding", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const input = Buffer.from("Email;FirstName\nann@example.com;J\u00f6rg\n", "latin1")
      const refused = yield* run(["contacts", "import", "-"], { input })
      assert.deepStrictEqual([refused.code, refused.stdout, failure(refused).code], [2, "", "UnreadableFile"])
      const imported = yield* run(["contacts", "import", "-", "--encoding", "windows-1252"], { input })
      assert.strictEqual(imported.code, 0, imported.stderr)
      assert.include(json(yield* run(["contacts", "get", "ann@example.com"])), { FirstName: "Jörg" })
    })
  )

  it.live("finds what stands twice", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRoster
      const rows = Array.from({ length: 3000 }, (_, i) => `u${i % 2900}@example.com`)
      writeFileSync(join(folder, "contacts.csv"), `Email\n${rows.join("\n")}\n`)
      const command = ["contacts", "import", "contacts.csv", "--dry-run"]
      const { env } = yield* fakeService(noContacts)
      const planned = yield* run(command, { env })
      assert.include(json(planned), { read: 3000, duplicates: 100 })
    })
  )

  it.live("shows people the counts and the rows", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const imported = yield* run(["contacts", "import", "-", "-o", "table"], { input: csv })
      assert.strictEqual(imported.code, 9)
      assert.match(
        imported.stdout,
        /^read +5\ndone +2\n  new +2\n  changed +0\n  already so +0\nrejected +2\nduplicates +1\nnot sent +0\nunknown +0\nline 4: /
      )
      assert.match(imported.stderr, /^error: 2 of 5 rows are done, 2 rejected, 1 duplicate\.$/m)
    })
  )

  it.live("refuses what cannot be read at all", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      mkdirSync(join(folder, "sub"))
      writeFileSync(join(folder, "empty.csv"), "")
      writeFileSync(join(folder, "other.csv"), "Name,Phone\nAnn,1\n")
      for (const file of ["absent.csv", "sub", "empty.csv", "other.csv"]) {
        const { code, stdout } = yield* run(["contacts", "import", file])
        assert.deepStrictEqual([code, stdout], [2, ""], file)
      }
    })
  )

  it.live("is the failure of the service where nothing was accepted, and partly done where something was", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const input = `Email\n${Array.from({ length: 1500 }, (_, index) => `c${index}@example.com`).join("\n")}\n`
      let accepting = false
      let sent = 0
      const { env } = yield* fakeService((request, response) => {
        if (request.method === "GET") return noContacts(request, response)
        if (accepting && ++sent === 1) return response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
        return response.writeHead(403, { "Content-Type": "application/json" }).end('{"Error":"Access Denied."}')
      })
      // One after another, since the first that arrives is the one that is accepted.
      const send = run(["contacts", "import", "-", "--concurrency", "1"], { input, env })
      const refused = yield* send
      assert.deepStrictEqual([refused.code, failure(refused).code], [4, "AccessDenied"])
      assert.include(json(refused), { read: 1500, done: 0, notSent: 1500 })
      accepting = true
      const stopped = yield* send
      assert.deepStrictEqual([stopped.code, failure(stopped).code], [9, "PartlyDone"])
      assert.include(json(stopped), { read: 1500, done: 1000, notSent: 500 })
    })
  )
})
