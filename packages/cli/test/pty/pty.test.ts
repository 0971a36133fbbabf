import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { filesIn, json, jsonOf, longRun, temporaryFolder } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"
import { hasTerminal, inTerminal, keys, openTerminal } from "./terminal.ts"

const escape = "\u001b"
const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"

const widest = (screen: string): number => Math.max(...screen.split("\n").map((line) => [...line].length))

/** A store of two contacts, of whom one has all that is long. */
const withContacts = Effect.gen(function* () {
  const roster = yield* makeLocalRosterHere
  const long = `${"a".repeat(60)}@example.com`
  const added = yield* roster.run(["contacts", "import", "-"], {
    input: `Email,FirstName,LastName\n${long},${"Maximiliane ".repeat(4)},${"Lee-Smith ".repeat(5)}\nann@example.com,Ann,Lee\n`
  })
  assert.strictEqual(added.code, 0, added.stderr)
  return { ...roster, db: join(roster.folder, "store.db") }
})

/** Answers a question, once it is asked. */
const answered = (folder: string, args: ReadonlyArray<string>, answer: string, question = "[y/N]") =>
  Effect.scoped(
    Effect.gen(function* () {
      const { ended, shows, type } = yield* openTerminal(folder, args)
      yield* shows(question)
      yield* type(answer)
      return yield* ended
    })
  )

describe.skipIf(!hasTerminal)("on a terminal (needs script)", () => {
  it.live.each([60, 120])("tables fit into %i columns, but identifiers are whole", (columns) =>
    Effect.gen(function* () {
      const { db, folder } = yield* withContacts
      const { code, raw, screen } = yield* inTerminal(folder, ["contacts", "list", "--db", db], { columns: 300 })
      assert.strictEqual(code, 0, screen)
      assert.match(screen, /^Email +Status +FirstName +LastName +DateAdded \(UTC\)\n/)
      // The address is what the next command needs; the names are cut with a sign.
      const narrow = yield* inTerminal(
        folder,
        ["contacts", "list", "--columns", "FirstName,Email,LastName", "--db", db],
        {
          columns
        }
      )
      assert.match(narrow.raw, /^FirstN\S* +Email +LastName/)
      assert.include(narrow.raw, `${"a".repeat(60)}@example.com`)
      assert.match(narrow.raw, /^Maxim.*… +a+@/m)
      if (columns === 120) assert.isAtMost(widest(narrow.screen), columns)
      assert.notInclude(raw, escape)
    })
  )

  it.live("tables show the ids of jobs whole, however narrow the terminal is", () =>
    Effect.gen(function* () {
      const { db, folder, run } = yield* withContacts
      yield* run(["contacts", "export"])
      const [job] = jsonOf<ReadonlyArray<{ id: string }>>(yield* run(["jobs", "list"]))
      const { raw } = yield* inTerminal(folder, ["jobs", "list", "--db", db], { columns: 60 })
      assert.include(raw, job?.id ?? "none")
    })
  )

  it.live("a record is one line per field, and JSON stays JSON with -o json", () =>
    Effect.gen(function* () {
      const { db, folder } = yield* withContacts
      const one = yield* inTerminal(folder, ["contacts", "get", "ann@example.com", "--db", db])
      assert.match(one.screen, /^Email +ann@example\.com\nStatus +Active\n/)
      const asked = yield* inTerminal(folder, ["contacts", "get", "ann@example.com", "--db", db, "-o", "json"], {
        columns: 4000
      })
      assert.deepInclude(json({ stdout: asked.raw }), { ...Object(json({ stdout: asked.raw })), FirstName: "Ann" })
    })
  )

  const deletesContact = ([answer, code]: readonly [string, number]) =>
    Effect.gen(function* () {
      const { db, folder, run } = yield* withContacts
      const deleted = yield* answered(folder, ["contacts", "delete", "ann@example.com", "--db", db], answer)
      assert.strictEqual(deleted.code, code, deleted.screen)
      // A long path begins a line of its own.
      assert.include(deleted.screen.replace("[local]\n", "[local] "), `[local] ${db}`)
      const left = yield* run(["contacts", "get", "ann@example.com"])
      assert.strictEqual(left.code, code === 0 ? 5 : 0)
      if (code === 3) assert.include(deleted.screen, "Nothing was done.")
    })

  it.live.each([
    ["y\r", 0],
    ["\r", 3],
    [keys.ctrlD, 3],
    [keys.ctrlC, 130]
  ] as const)("contacts delete asks, and takes %j for %i", deletesContact)

  describe.skipIf(!longRun)("asked by contacts delete too", () => {
    it.live.each([
      ["yes\r", 0],
      ["n\r", 3]
    ] as const)("%j is taken for %i (nightly)", deletesContact)
  })

  const deletesKey = ([answer, code]: readonly [string, number]) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const db = join(folder, "store.db")
      yield* run(["apikeys", "create", "ci", "--access", "Export"])
      const deleted = yield* answered(folder, ["apikeys", "delete", "ci", "--db", db], answer)
      assert.strictEqual(deleted.code, code, deleted.screen)
      assert.strictEqual((yield* run(["apikeys", "get", "ci"])).code, code === 0 ? 5 : 0)
    })

  it.live.each([
    ["y\r", 0],
    ["n\r", 3]
  ] as const)("apikeys delete asks, and takes %j for %i", deletesKey)

  describe.skipIf(!longRun)("asked by apikeys delete too", () => {
    it.live.each([
      ["\r", 3],
      [keys.ctrlD, 3],
      [keys.ctrlC, 130]
    ] as const)("%j is taken for %i (nightly)", deletesKey)
  })

  it.live("auth login shows nothing of the key that is typed, not even its length", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, key } = yield* serveWithKey(folder)
      const login = yield* answered(folder, ["auth", "login", "--base-url", address], `${key}\r`, "API key")
      assert.strictEqual(login.code, 0, login.screen)
      assert.include(login.screen, `default: the key …${key.slice(-4)} for ${address} is accepted`)
      const start = key.indexOf("_") + 1
      for (let at = start; at + 5 <= key.length; at++) assert.notInclude(login.raw, key.slice(at, at + 5))
      assert.notInclude(login.raw, "*")
      assert.strictEqual((yield* run(["contacts", "list"])).stdout, "[]\n")
    })
  )

  it.live("auth login asks on stderr, and keeps nothing after Ctrl-C", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const args = ["auth", "login", "--base-url", "https://example.com/v4", "--no-check"]
      const stopped = yield* answered(folder, args, `half${keys.ctrlC}`, "API key")
      assert.strictEqual(stopped.code, 130, stopped.screen)
      assert.deepStrictEqual(readdirSync(folder), [])
      const [terminal, ended] = yield* Effect.scoped(
        Effect.gen(function* () {
          const terminal = yield* openTerminal(folder, args, { tail: "> out" })
          yield* terminal.shows("API key")
          yield* terminal.type("canary-key\r")
          return [terminal, yield* terminal.ended] as const
        })
      )
      assert.strictEqual(ended.code, 0, ended.screen)
      assert.notInclude(terminal.raw(), "canary")
      const written = readFileSync(join(folder, "out"), "utf8")
      assert.deepInclude(json({ stdout: written }), { profile: "default", verdict: "not checked" })
    })
  )

  it.live("K09 the text of a contact cannot control a terminal, and is exact in JSON", () =>
    Effect.gen(function* () {
      const { db, folder, run } = yield* withContacts
      const hostile = [
        `${escape}[31mred${escape}[0m`,
        `${escape}]52;c;aGVsbG8=\u0007`,
        `${escape}]0;title${escape}\\`,
        "\u009b31mC1",
        "\u202egnp.exe",
        "\u2066isolated\u2069",
        "two\nlines\rover\bback",
        `${escape}c`,
        "\u2028\u2029"
      ]
      // All of them in one, for what shows a single contact.
      hostile.push(hostile.join(" "))
      const rows = hostile.map((name, at) => `c${at}@example.com,"${name}"`)
      const added = yield* run(["contacts", "import", "-"], { input: `Email,FirstName\n${rows.join("\n")}\n` })
      assert.strictEqual(added.code, 0, added.stderr)
      const shown = [
        yield* inTerminal(folder, ["contacts", "list", "--db", db], { columns: 120 }),
        yield* inTerminal(folder, ["contacts", "list", "--db", db, "-o", "csv"]),
        yield* inTerminal(folder, ["contacts", "list", "--db", db, "-o", "json"]),
        yield* inTerminal(folder, ["contacts", "export", "--db", db]),
        yield* inTerminal(folder, ["contacts", "get", `c${hostile.length - 1}@example.com`, "--db", db])
      ]
      for (const { code, raw } of shown) {
        assert.strictEqual(code, 0, raw)
        // Lines end with what the terminal driver makes of a line break; nothing else may act.
        assert.notMatch(
          raw.replace(/\r+\n/g, "\n"),
          /[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u
        )
      }
      const records = jsonOf<ReadonlyArray<{ Email: string; FirstName: string }>>(yield* run(["contacts", "list"]))
      assert.deepStrictEqual(
        records.filter(({ Email }) => /^c\d+@/.test(Email)).map(({ FirstName }) => FirstName),
        hostile
      )
      // The same from a hostile service, whose words are no more welcome.
      const { env } = yield* fakeService((_, response) =>
        response
          .writeHead(400, { "Content-Type": "application/json" })
          .end(JSON.stringify({ Error: `${escape}]0;owned\u0007 no \u202e` }))
      )
      const refused = yield* inTerminal(folder, ["contacts", "list"], { env })
      assert.strictEqual(refused.code, 7, refused.screen)
      assert.notMatch(refused.raw, new RegExp(`[${escape}\u0007\u202e]`))
    })
  )

  it.live("help is plain on a terminal, and a login asks without colour where it is turned off", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const plain = yield* inTerminal(folder, ["--help"])
      assert.strictEqual(plain.code, 0)
      assert.notInclude(plain.raw, escape)
      assert.match(plain.screen, /contacts[^]*jobs[^]*apikeys/)
      const login = ["auth", "login", "--base-url", "https://example.com/v4", "--no-check"]
      const asked = yield* Effect.scoped(
        Effect.gen(function* () {
          const { ended, shows, type } = yield* openTerminal(folder, login, { env: { NO_COLOR: "1" } })
          yield* shows("API key")
          yield* type("k\r")
          return yield* ended
        })
      )
      assert.strictEqual(asked.code, 0, asked.screen)
      assert.notInclude(asked.raw, `${escape}[9`)
      const version = yield* inTerminal(folder, ["--version"])
      assert.deepStrictEqual([version.code, version.raw.trimEnd()], [0, version.screen])
      assert.match(version.screen, /^roster \d+\.\d+\.\d+$/)
    })
  )

  it.live("a mistake is explained in two lines, on stderr", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const mistaken = yield* inTerminal(folder, ["contacts", "list", "--limt", "3"], { tail: "2> err" })
      assert.deepStrictEqual([mistaken.code, mistaken.raw], [2, ""])
      const said = readFileSync(join(folder, "err"), "utf8")
      assert.match(said, /^error: .*--limt .*Did you mean --limit\?\n {2}See: roster contacts list --help\n$/)
      assert.notInclude(said, escape)
    })
  )

  it.live("a reader that has seen enough is no mistake", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const rows = Array.from({ length: 3000 }, (_, at) => `c${at}@example.com`)
      yield* run(["contacts", "import", "-"], { input: `Email\n${rows.join("\n")}\n` })
      const db = join(folder, "store.db")
      const head = yield* inTerminal(folder, ["contacts", "list", "--all", "--db", db, "-o", "ndjson"], {
        columns: 4000,
        tail: "| head -1"
      })
      assert.strictEqual(head.code, 0)
      assert.deepInclude(json({ stdout: head.raw }), { ...Object(json({ stdout: head.raw })), Email: "c0@example.com" })
    })
  )

  it.live("a delete of much wants the number typed, and nothing less", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const db = join(folder, "store.db")
      yield* run(["contacts", "import", "-", "--db", db], { input: "Email\na@x.com\nb@x.com\nc@x.com\n" })
      const answer = Effect.fnUntraced(function* (typed: string) {
        const terminal = yield* openTerminal(folder, ["contacts", "delete", "--rule", "All", "--db", db])
        yield* terminal.shows("Type the number of contacts")
        yield* terminal.type(`${typed}${keys.enter}`)
        return yield* terminal.ended
      }, Effect.scoped)
      for (const typed of longRun ? ["y", "2", ""] : ["y"]) assert.strictEqual((yield* answer(typed)).code, 3)
      assert.strictEqual(jsonOf<ReadonlyArray<object>>(yield* run(["contacts", "list", "--db", db])).length, 3)
      const deleted = yield* answer("3")
      assert.strictEqual(deleted.code, 0, deleted.screen)
      assert.match(deleted.screen, /^ +deleted +3$/m)
      assert.deepStrictEqual(jsonOf(yield* run(["contacts", "list", "--db", db])), [])
    })
  )

  it.live("an add of somebody who left asks whether they asked for mail again", () =>
    Effect.gen(function* () {
      const { db, folder, run } = yield* withContacts
      const add = ["contacts", "add", "ann@example.com"]
      yield* run([...add, "--status", "Unsubscribed"])
      const again = [...add, "--status", "Active", "--db", db]
      const no = yield* answered(folder, again, `n${keys.enter}`)
      assert.deepStrictEqual(no.code, 3)
      const words = no.screen.replaceAll(/\s+/g, " ")
      assert.include(words, "ann@example.com is Unsubscribed and gets no mail. They asked for mail again? [y/N]")
      assert.include(words, "Nothing was done.")
      const status = Effect.map(run(["contacts", "get", "ann@example.com"]), (shown) => Object(json(shown)).Status)
      assert.strictEqual(yield* status, "Unsubscribed")
      const yes = yield* answered(folder, again, `y${keys.enter}`)
      assert.strictEqual(yes.code, 0, yes.screen)
      assert.strictEqual(yield* status, "Active")
    })
  )

  it.live("the default local store is named on stderr", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const listed = yield* inTerminal(folder, ["contacts", "add", "ann@example.com"], { tail: "2> err" })
      assert.strictEqual(listed.code, 0, listed.screen)
      assert.notInclude(listed.raw, "[local]")
      assert.strictEqual(
        readFileSync(join(folder, "err"), "utf8").split("\n")[0],
        `[local] ${join(folder, ".local/share/roster/roster.db")}, a new store`
      )
    })
  )

  it.live("K07 Ctrl-C while waiting for an export says that nothing was written, and leaves no partial file", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      let looked = () => {}
      const waiting = new Promise<void>((resolve) => {
        looked = resolve
      })
      const { env, requests } = yield* fakeService((request, response) => {
        const isStatus = request.url?.endsWith("/status") === true
        const body = isStatus ? "Loading" : { Link: "http://127.0.0.1:9/v4/x", PublicExportID: id }
        response.writeHead(isStatus ? 200 : 202, { "Content-Type": "application/json" }).end(JSON.stringify(body))
        if (isStatus) response.once("close", looked)
      })
      writeFileSync(join(folder, "mine"), "mine")
      const stopped = yield* Effect.scoped(
        Effect.gen(function* () {
          const { ended, type } = yield* openTerminal(folder, ["contacts", "export", "--out", "out.csv"], { env })
          yield* Effect.promise(() => waiting)
          yield* type(keys.ctrlC)
          return yield* ended
        })
      )
      assert.strictEqual(stopped.code, 130, stopped.screen)
      assert.include(stopped.screen, "nothing was written here")
      assert.deepStrictEqual(filesIn(folder), ["mine"])
      assert.strictEqual(requests.filter((request) => request.startsWith("POST")).length, 1)
    })
  )
})
