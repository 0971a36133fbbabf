import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { createServer } from "node:http"
import { spawn } from "node:child_process"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { makeLocalRosterHere } from "../inProcess.ts"
import { bin, ended, environmentOf, failure, json, jsonOf, longRun, makeLocalRoster, makeRoster } from "../roster.ts"
import { isForOwnOperation, noContacts } from "../service.ts"

const csv =
  "Email;Call Name;Town\nann@example.com;Ann;Bonn\nnobody;Bob;\nANN@example.com;Anna;Köln\ncem@example.com;Cem;\n"

describe("the flags of roster contacts import", () => {
  it.live("says what would be sent and where, and sends nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.csv"), csv)
      const planned = yield* run(["contacts", "import", "a.csv", "--dry-run"])
      assert.strictEqual(planned.code, 9, planned.stderr)
      assert.include(failure(planned).message, "1 of 4 rows would be rejected.")
      const target = `[local] ${join(folder, "store.db")}`
      assert.deepInclude(json(planned), {
        dryRun: true,
        target,
        toSend: 2,
        read: 4,
        rejected: 1,
        duplicates: 1
      })
      assert.strictEqual(failure(yield* run(["contacts", "list"])).code, "NoStore")
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.startsWith("a.csv")),
        ["a.csv"]
      )
    })
  )

  it.live("offers the whole command for columns that are nearly fields, before anything is written", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const header = "E-mail Address,first_name,Surname,Town"
      writeFileSync(join(folder, "b.csv"), `${header}\nann@example.com,Ann,Lee,Bonn\n`)
      const offered = yield* run(["contacts", "import", "b.csv", "--list", "News"])
      assert.deepStrictEqual([offered.code, offered.stdout], [2, ""])
      const maps = "--map 'E-mail Address=Email' --map first_name=FirstName --map Surname=LastName"
      assert.include(
        failure(offered).hint,
        `roster contacts import b.csv --list News --db ${join(folder, "store.db")} ${maps}`
      )
      assert.include(failure(offered).message, 'the header has no column "Email"')
      const map = ["--map", "E-mail Address=Email", "--map", "Surname=LastName"]
      const near = yield* run(["contacts", "import", "b.csv", ...map, "--dry-run"])
      assert.deepStrictEqual([near.code, near.stdout], [2, ""])
      assert.include(failure(near).message, "first_name looks like FirstName; nothing was sent")
      assert.include(failure(near).hint, "--map first_name=first_name")
      assert.strictEqual(failure(yield* run(["contacts", "list"])).code, "NoStore")
      const own = yield* run(["contacts", "import", "b.csv", ...map, "--map", "first_name=first_name"])
      assert.strictEqual(own.code, 0, own.stderr)
      const ann = json(yield* run(["contacts", "get", "ann@example.com"]))
      assert.deepInclude(ann, { LastName: "Lee", CustomFields: { first_name: "Ann", Town: "Bonn" } })
      const removed = yield* run(["contacts", "update", "ann@example.com", "--field", "first_name="])
      assert.deepInclude(json(removed), { CustomFields: { Town: "Bonn" } })
    })
  )

  it.live("takes a column for the field that it is said to be", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.csv"), csv)
      const mapped = yield* run(["contacts", "import", "a.csv", "--map", "call name=FirstName", "--map", "Town=City"])
      assert.include(mapped.stderr, "\nNew custom field: City\n")
      const ann = json(yield* run(["contacts", "get", "ann@example.com"]))
      assert.deepNestedInclude(ann, { FirstName: "Anna", "CustomFields.City": "Köln" })
      for (const [map, says] of [
        ["Nom=FirstName", /no column "Nom"; it reads "Email", "Call Name", "Town"/],
        ["=FirstName", /column=Field/],
        ["Town=FirstName=", /no column "Town=FirstName"/],
        ["Town=TotalSent", /TotalSent/],
        ["Town=Email", /has the column "\w+" twice/]
      ] as const) {
        const refused = yield* run(["contacts", "import", "a.csv", "--map", map])
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], map)
        assert.match(failure(refused).message, says)
      }
      const words = yield* run(["contacts", "import", "a.csv", "--map", "Town=City", "--map-value", "Staus:x=Active"])
      assert.deepStrictEqual([words.code, words.stdout], [2, ""])
      assert.match(failure(words).message, /words of "Staus", which is no field and no column; did you mean "Status"/)
    })
  )

  it.live("asks about a new field or list that is nearly another one", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.csv"), csv)
      const first = ["contacts", "import", "a.csv", "--map", "Town=City", "--list", "News"]
      assert.include((yield* run(first)).stderr, "\nNew list: News\nNew custom fields: Call Name, City\n")
      for (const [args, says] of [
        [["import", "a.csv", "--map", "Town=Emial"], 'No contact has a field "Emial"; did you mean "Email"?'],
        [["import", "a.csv", "--map", "Town=Citty", "--dry-run"], 'did you mean "City"?'],
        [["import", "a.csv", "--map", "Town=City", "--set", "Call Nmae=x"], 'did you mean "Call Name"?'],
        [["update", "ann@example.com", "--field", "Ctiy=Ulm"], 'did you mean "City"?'],
        [["add", "ann@example.com", "--field", "Cit=Ulm"], 'did you mean "City"?'],
        [["add", "ann@example.com", "--list", "Nwes", "--create-list"], 'no list "Nwes"; did you mean "News"?']
      ] as const) {
        const refused = yield* run(["contacts", ...args])
        assert.deepStrictEqual(
          [refused.code, refused.stdout, failure(refused).code],
          [3, "", "Declined"],
          args.join(" ")
        )
        assert.include(failure(refused).message, says)
        assert.include(failure(refused).hint, "--new-field")
      }
      const own = yield* run(["contacts", "update", "ann@example.com", "--field", "Ctiy=Ulm", "--new-field"])
      assert.strictEqual(own.code, 0, own.stderr)
      assert.include(own.stderr, "New custom field: Ctiy")
      // A name is meant that a mapping keeps, and one that is removed makes nothing.
      writeFileSync(join(folder, "kept.csv"), "Email,Citty\nann@example.com,Ulm\n")
      for (const args of [
        ["import", "kept.csv", "--map", "Citty=Citty"],
        ["update", "ann@example.com", "--field", "Citi="]
      ]) {
        const meant = yield* run(["contacts", ...args])
        assert.strictEqual(meant.code, 0, meant.stderr)
      }
    })
  )

  it.live("uses the given delimiter", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const input = "Email\tA;B\nann@example.com\tx\n"
      const told = yield* run(["contacts", "import", "-", "--delimiter", "tab"], { input })
      assert.strictEqual(told.code, 0, told.stderr)
      const wrong = yield* run(["contacts", "import", "-", "--delimiter", ";"], { input })
      assert.deepStrictEqual([wrong.code, failure(wrong).code], [2, "UnreadableFile"])
    })
  )

  it.live("replaces no mapping beside the rejected rows, neither a named one nor one of its own choice", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "m.csv"), "Mail\nann@example.com\nbob\n")
      for (const rows of ["mine.csv", "m.csv.rejected.csv"]) writeFileSync(join(folder, `${rows}.mapping.json`), "mine")
      const importing = ["contacts", "import", "m.csv", "--map", "Mail=Email"]
      const refused = yield* run([...importing, "--rejected", "mine.csv"])
      assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"])
      assert.include(failure(refused).message, "mine.csv.mapping.json")
      assert.strictEqual(failure(yield* run(["contacts", "list"])).code, "NoStore")
      assert.strictEqual((yield* run(importing)).code, 9)
      for (const rows of ["mine.csv", "m.csv.rejected.csv"]) {
        assert.strictEqual(readFileSync(join(folder, `${rows}.mapping.json`), "utf8"), "mine")
      }
      assert.include(readFileSync(join(folder, "m.csv.rejected.2.csv.mapping.json"), "utf8"), "Mail")
    })
  )

  it.live("hands the file over, and says that no status exists but in the store itself", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      writeFileSync(join(folder, "a.csv"), csv)
      const over = yield* run(["contacts", "import", "a.csv", "--via", "file"])
      assert.strictEqual(over.code, 0, over.stderr)
      assert.include(json(over), { handedOver: true, read: 4, rejected: 1, duplicates: 1 })
      assert.match(jsonOf<{ status: string }>(over).status, /roster jobs list/)
      const [job] = jsonOf<ReadonlyArray<{ request: { fileName: string } }>>(yield* run(["jobs", "list"]))
      assert.strictEqual(job?.request.fileName, "a.csv")
      const listed = yield* run(["contacts", "import", "a.csv", "--via", "file", "--list", "None"])
      assert.deepStrictEqual([listed.code, failure(listed).code], [5, "ListNotFound"])
      const mixed = yield* run(["contacts", "import", "a.csv", "--via", "file", "--concurrency", "2"])
      assert.strictEqual(mixed.code, 2)
    })
  )

  it.live("needs no place for records, with --no-record or without", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      mkdirSync(join(folder, ".local/state/roster"), { recursive: true })
      // A folder cannot be made in its place, not by the superuser either.
      writeFileSync(join(folder, ".local/state/roster/runs"), "")
      writeFileSync(join(folder, "a.csv"), "Email\nann@example.com\n")
      const recorded = yield* run(["contacts", "import", "a.csv"])
      assert.strictEqual(recorded.code, 0, recorded.stderr)
      assert.deepInclude(json(recorded), { done: 1, new: 1 })
      const without = yield* run(["contacts", "import", "a.csv", "--no-record"])
      assert.strictEqual(without.code, 0, without.stderr)
      assert.deepInclude(json(without), { done: 1, new: 0, unknownWhetherNew: 1 })
      assert.notProperty(json(without), "run")
    })
  )

  it.live("keeps what comes from a pipe in no file that stays", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRoster
      const kept = join(folder, "tmp")
      mkdirSync(kept)
      const input = "Email\nann@example.com\n"
      const piped = yield* run(["contacts", "import", "-"], { input, env: { TMPDIR: kept } })
      assert.strictEqual(piped.code, 0, piped.stderr)
      assert.deepStrictEqual(readdirSync(kept), [])
    })
  )

  it.live("needs no more memory for many rows than for few", () =>
    Effect.gen(function* () {
      const { folder } = yield* makeRoster
      const rows = longRun ? 4_000_000 : 100_000
      const file = openSync(join(folder, "many.csv"), "w")
      writeSync(file, "Email,FirstName,City\n")
      for (let i = 0; i < rows; i += 1000) {
        writeSync(
          file,
          Array.from({ length: 1000 }, (_, k) => `contact${i + k}@example${k}.com,First ${i + k},City ${k}\n`).join("")
        )
      }
      closeSync(file)
      let received = 0
      // Answers with what it was sent, without a look at more than the number of addresses.
      const sink = createServer((request, response) => {
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          if (request.method === "GET" || isForOwnOperation(request)) return noContacts(request, response)
          const body = Buffer.concat(parts)
          received += body.toString("latin1").split('"Email"').length - 1
          response.writeHead(200, { "Content-Type": "application/json" }).end(body)
        })
      }).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(sink, "listening"))
      // A server that listens on TCP has an address of this kind.
      const { port } = sink.address() as AddressInfo
      // The rows of the file alone take more.
      const heap = ["--max-old-space-size=64", "--max-semi-space-size=16"]
      const child = spawn(process.execPath, [...heap, bin, "contacts", "import", "many.csv", "-q"], {
        cwd: folder,
        env: {
          ...environmentOf(folder),
          ROSTER_BASE_URL: `http://127.0.0.1:${port}/v4`,
          ROSTER_API_KEY: "key"
        }
      })
      const imported = yield* Effect.promise(() => ended(child))
      sink.closeAllConnections()
      sink.close()
      assert.strictEqual(imported.code, 0, imported.stderr)
      assert.include(json(imported), { read: rows, done: rows })
      assert.strictEqual(received, rows)
      assert.deepStrictEqual(readdirSync(folder), [".local", "many.csv"])
      assert.isAbove(readFileSync(join(folder, "many.csv")).length, rows)
    })
  )
})
