import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { copyFileSync, existsSync, readFileSync, rmSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { golden, type Golden } from "./golden.ts"
import { runHere } from "./inProcess.ts"
import { jsonOf, longRun, makeRoster, temporaryFolder } from "./roster.ts"
import { hasTerminal, keys, openTerminal } from "./pty/terminal.ts"
import { fakeService } from "./service.ts"

const rows = Object.entries(golden)

type Env = Readonly<Record<string, string>>

interface Said {
  readonly code: number | null
  readonly text: string
}

interface Descriptor {
  readonly name: string
  readonly subcommands: ReadonlyArray<Descriptor>
}

const leaves = (command: Descriptor, above: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  command.subcommands.length === 0
    ? [[...above, command.name].join(" ")]
    : command.subcommands.flatMap((sub) => leaves(sub, [...above, command.name]))

/** A store with something of each kind, and what stands for the words in braces. */
const makeFixture = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const template = join(folder, "template.db")
  const on = Effect.fnUntraced(function* (line: string) {
    const made = yield* runHere([...line.split(" "), "--db", template], { env: { HOME: folder } })
    assert.strictEqual(made.code, 0, `${line}: ${made.stderr}`)
    return made
  })
  yield* on("contacts add ann@example.com --list News")
  for (const name of ["ci", "other"]) yield* on(`apikeys create ${name} --access Export --out ${join(folder, name)}`)
  for (const name of ["shop", "other"])
    yield* on(`smtp create ${name}@example.com --out ${join(folder, `${name}.smtp`)}`)
  const sent = yield* on("emails send --from news@example.com --to ann@example.com --text x")
  yield* on("contacts export")
  yield* on(`contacts export --format json --out ${join(folder, "contacts.json")}`)
  yield* on(`backup ${join(folder, "backup.db")}`)
  const [cancelled, job] = jsonOf<ReadonlyArray<{ id: string }>>(yield* on("jobs list")).map(({ id }) => id)
  yield* on(`jobs cancel ${cancelled} --yes`)
  writeFileSync(join(folder, "bad.csv"), "Email\nbob@example.com\nnobody\n")
  const taken = createServer().listen(0, "127.0.0.1")
  yield* Effect.promise(() => once(taken, "listening"))
  yield* Effect.addFinalizer(() => Effect.sync(() => taken.close()))
  // A server that listens on TCP has an address of this kind.
  const { port } = taken.address() as AddressInfo
  const words: Readonly<Record<string, string>> = {
    folder,
    email: jsonOf<{ MessageID: string }>(sent).MessageID,
    job: job ?? "",
    cancelled: cancelled ?? "",
    contacts: join(folder, "contacts.json"),
    backup: join(folder, "backup.db"),
    badCsv: join(folder, "bad.csv"),
    taken: String(port)
  }
  /** A plan to add a contact. */
  const writePlan = (file: string, target: string) =>
    writeFileSync(
      file,
      [
        `{"plan":"roster contacts","version":4,"id":"one","target":"${target}","made":"","listNames":[],"resubscribe":false,"rows":[`,
        '{"line":2,"change":{"Email":"bob@example.com","Seen":null,"Write":{}}}',
        '],"summary":{"read":1,"new":1,"changed":0,"alreadySo":0,"rejected":0,"duplicates":0,"statusesKept":0,"onlyLists":0,"fields":{},"sample":[],"keptStatuses":[],"rejectedRows":[]}}\n'
      ].join("\n")
    )
  /** The record of a run that added a contact. */
  const writeRun = (target: string) => {
    const runs = join(folder, ".local/state/roster/runs")
    mkdirSync(runs, { recursive: true, mode: 0o700 })
    const id = "20261121T140000Z-1a2b3c4d"
    const header = { id, command: "import", target, began: "" }
    writeFileSync(
      join(runs, `${id}.jsonl`),
      [
        JSON.stringify({ run: "roster contacts", version: 1, header }),
        JSON.stringify({ _tag: "Changes", created: [["bob@example.com", "x"]] }),
        ""
      ].join("\n")
    )
  }
  let copies = 0
  return {
    folder,
    /** The arguments of a call, and a store of its own for it. */
    call: (path: string, args: string, service?: string) => {
      const number = ++copies
      const db = join(folder, `${number}.db`)
      copyFileSync(template, db)
      const plan = join(folder, `${number}.plan.json`)
      const csv = join(folder, `${number}.csv`)
      writeFileSync(csv, "Email\nbob@example.com\n")
      if (path === "contacts apply") writePlan(plan, service ?? `[local] ${db}`)
      if (path === "contacts undo" && service !== undefined) writeRun(service)
      const filled = args.replace(/\{(\w+)\}/g, (_, word: string) =>
        word === "new"
          ? join(folder, `${number}.new`)
          : word === "plan"
            ? plan
            : word === "csv"
              ? csv
              : (words[word] ?? "")
      )
      return { db, args: `${path} ${filled}`.trim().split(" ") }
    }
  }
})

class Fixture extends Context.Service<Fixture, Effect.Success<typeof makeFixture>>()("Fixture") {}

/** All commands that ask a service, each against one that answers with a refusal or not at all. */
const againstService = (env: { readonly ROSTER_BASE_URL: string; readonly ROSTER_API_KEY?: string }, code: number) =>
  Effect.gen(function* () {
    const { call, folder } = yield* Fixture
    const asking = rows.filter(([, { asks }]) => asks === true)
    const wrong = yield* Effect.forEach(
      asking,
      Effect.fnUntraced(function* ([path, { good }]: readonly [string, Golden]) {
        const ended = yield* runHere(call(path, good, env.ROSTER_BASE_URL).args, { env: { ...env, HOME: folder } })
        return ended.code === code ? [] : [`${path}: ${ended.code} ${ended.stderr}`]
      }),
      { concurrency: 8 }
    )
    assert.deepStrictEqual(wrong.flat(), [])
  })

/** A store that the command line made before the last migrations. */
const olderStore = "packages/testing/test/upgrades/steps/sqlite/24.sql"

layer(Layer.effect(Fixture, makeFixture), { excludeTestServices: true, timeout: "60 seconds" })(
  "every command",
  (it) => {
    it.effect("is in the table", () =>
      Effect.gen(function* () {
        const { run } = yield* makeRoster
        const { subcommands } = jsonOf<Descriptor>(yield* run(["commands", "-o", "json"]))
        assert.sameMembers(
          rows.map(([path]) => path),
          subcommands.flatMap((sub) => leaves(sub))
        )
      })
    )

    it.effect("shows its help with 0, and refuses a flag that it has not with 2", () =>
      Effect.gen(function* () {
        for (const [path] of rows) {
          const help = yield* runHere([...path.split(" "), "--help"])
          assert.deepStrictEqual([help.code, help.stderr], [0, ""], path)
          assert.include(help.stdout, `roster ${path}`)
          const unknown = yield* runHere([...path.split(" "), "--no-such-flag"])
          assert.deepStrictEqual([unknown.code, unknown.stdout], [2, ""], path)
        }
      })
    )

    it.effect("ends with 4 where the key is refused", () =>
      Effect.gen(function* () {
        const { env } = yield* fakeService((_, response) =>
          response.writeHead(401, { "Content-Type": "application/json" }).end('{"Error":"Incorrect apikey"}')
        )
        yield* againstService(env, 4)
      })
    )

    it.effect("ends with 4 where an address is given and no key", () =>
      againstService({ ROSTER_BASE_URL: "http://127.0.0.1:9/v4" }, 4)
    )

    it.effect("ends with 8 if nothing answers", () =>
      againstService({ ROSTER_BASE_URL: "http://127.0.0.1:9/v4", ROSTER_API_KEY: "test-key" }, 8)
    )

    it.effect("ends with the code that is its own for each thing that can go wrong", () =>
      Effect.gen(function* () {
        const { call, folder } = yield* Fixture
        const calls = rows.flatMap(([path, { ends = {} }]) =>
          Object.entries(ends).map(([code, args]) => ({ code: Number(code), path, args }))
        )
        const wrong = yield* Effect.forEach(
          calls,
          Effect.fnUntraced(function* ({ args: given, code, path }) {
            const { args, db } = call(path, given)
            const ended = yield* runHere(args, { env: { ROSTER_DB: db, HOME: folder } })
            return ended.code === code ? [] : [`${args.join(" ")}: ${ended.code} in place of ${code}. ${ended.stderr}`]
          }),
          { concurrency: 4 }
        )
        assert.deepStrictEqual(wrong.flat(), [])
      })
    )

    it.effect("makes a store only where it adds what one begins with, and a dry run makes none", () =>
      Effect.gen(function* () {
        const { call, folder } = yield* Fixture
        // They need none, serve until they are stopped, or look for a run first.
        const others =
          /^(?:contacts (?:runs|undo)|(?:auth|profile) .*|status|doctor|completions|commands|serve|studio)$/
        const wrong = yield* Effect.forEach(
          rows.filter(([path]) => !others.test(path)),
          Effect.fnUntraced(function* ([path, { good, makesStore }]: readonly [string, Golden]) {
            const { args, db } = call(path, good)
            rmSync(db)
            const env = { ROSTER_DB: db, HOME: folder }
            if (path === "contacts import") {
              const dry = yield* runHere([...args, "--dry-run"], { env })
              if (dry.code !== 0 || existsSync(db)) return [`${path} --dry-run: ${dry.code} ${dry.stderr}`]
            }
            const { code, stderr } = yield* runHere(args, { env })
            const isRight = makesStore ? code === 0 && existsSync(db) : code === 5 && !existsSync(db)
            return isRight ? [] : [`${path}: ${code} ${stderr}`]
          }),
          { concurrency: 4 }
        )
        assert.deepStrictEqual(wrong.flat(), [])
      }).pipe(Effect.scoped)
    )

    it.effect("reads no store of an earlier version, and changes none unless it writes", () =>
      Effect.gen(function* () {
        const { call, folder } = yield* Fixture
        // They need none, or are all about it.
        const others = /^(?:(?:auth|profile) .*|status|completions|commands|serve|studio|backup|restore|upgrade)$/
        const reads = / (?:list|get|count|fields|history|runs|export|audit)$|^doctor$/
        /** Commands that come to nothing before they write. */
        const refused: ReadonlyArray<readonly [path: string, args: string]> = [
          ["contacts import", "{badCsv} --dry-run"],
          ["contacts import", "{csv} --list New"],
          ["contacts import", "{csv} --plan {new}"],
          ["contacts import", "{folder}/none.csv"],
          ["contacts delete", "--rule All --dry-run"],
          ["contacts delete", "nobody@example.com --yes"],
          ["contacts delete", "ann@example.com"],
          ["contacts fields", "--convert city=boolean"],
          ["contacts undo", "none"],
          ["lists add", "News --rule All"]
        ]
        const tried = Effect.fnUntraced(function* (path: string, args: string, isGood: boolean) {
          const { args: words, db } = call(path, args)
          rmSync(db)
          {
            using store = new DatabaseSync(db, { enableForeignKeyConstraints: false })
            store.exec(`PRAGMA journal_mode = WAL; ${readFileSync(olderStore, "utf8")}`)
          }
          const before = readFileSync(db)
          const { code, stderr, stdout } = yield* runHere(words, { env: { ROSTER_DB: db, HOME: folder } })
          const isSame = readFileSync(db).equals(before)
          const isSaid = stderr.includes("Upgrading ")
          const isRefused = code === 8 && `${stdout}${stderr}`.includes("roster upgrade")
          const isReading = isGood ? reads.test(path) : /--(?:dry-run|plan)/.test(args)
          // What names a job or a key of another store finds none.
          const isRight =
            isGood && !isReading ? code !== 0 || (!isSame && isSaid) : isSame && !isSaid && (isRefused || !isReading)
          return isRight ? [] : [`${path} ${args}: ${code}, ${isSame ? "unchanged" : "changed"} ${stderr}`]
        })
        const good = rows.filter(([path]) => !others.test(path))
        const wrong = yield* Effect.forEach(good, ([path, { good }]) => tried(path, good, true), { concurrency: 4 })
        const changed = yield* Effect.forEach(refused, ([path, args]) => tried(path, args, false), { concurrency: 4 })
        assert.deepStrictEqual([...wrong, ...changed].flat(), [])
      })
    )

    it.effect("ends with 7 if the service refuses, and with 10 if its job has failed", () =>
      Effect.gen(function* () {
        const { env } = yield* fakeService((_, response) =>
          response.writeHead(400, { "Content-Type": "application/json" }).end('{"Error":"No."}')
        )
        for (const line of [
          "contacts list",
          "contacts add a@example.com",
          "apikeys create a --access Export --out {new}",
          "smtp list",
          "emails send --from a@example.com --to b@example.com --text x"
        ]) {
          const folder = yield* temporaryFolder
          const refused = yield* runHere(line.replace("{new}", join(folder, "new")).split(" "), {
            env: { ...env, HOME: folder }
          })
          assert.strictEqual(refused.code, 7, `${line}: ${refused.stderr}`)
        }
        const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
        const failing = yield* fakeService((request, response) => {
          const isStatus = request.url?.endsWith("/status") === true
          const body = isStatus ? "Error" : { Link: "http://127.0.0.1:9/v4/x", PublicExportID: id }
          response.writeHead(isStatus ? 200 : 202, { "Content-Type": "application/json" }).end(JSON.stringify(body))
        })
        assert.strictEqual((yield* runHere(["contacts", "export"], { env: failing.env })).code, 10)
      })
    )

    /** Each, or some of them, where all is well, in an empty home. What serves until it is stopped is tried in `process`. */
    const good = (
      run: (home: string, args: ReadonlyArray<string>, env: Env, typed: string) => Effect.Effect<Said>,
      isTried: (path: string) => boolean = () => true
    ) =>
      Effect.gen(function* () {
        const { call } = yield* Fixture
        const one = Effect.fnUntraced(function* ([path, row]: readonly [string, Golden]) {
          const { args, db } = call(path, row.good)
          const home = yield* temporaryFolder
          const before = (words: ReadonlyArray<string>, input = "") => runHere(words, { env: { HOME: home }, input })
          if (path.startsWith("profile ") || path === "auth logout") {
            yield* before(
              ["auth", "login", "-p", "one", "--base-url", "https://example.com/v4", "--no-check"],
              "test-key"
            )
          }
          if (path === "rules remove") yield* before(["rules", "save", "vip", "status = Active", "--db", db])
          if (path === "contacts undo") {
            yield* before(["contacts", "update", "ann@example.com", "--first-name", "Ann", "--db", db])
          }
          const env: Env = path.startsWith("auth ") || path.startsWith("profile ") ? {} : { ROSTER_DB: db }
          const { code, text } = yield* run(home, args, env, path === "auth login" ? "test-key" : "")
          return code === 0 ? [] : [`${args.join(" ")}: ${code} ${text}`]
        }, Effect.scoped)
        const all = rows.filter(([path]) => path !== "serve" && path !== "studio" && isTried(path))
        const wrong = yield* Effect.forEach(all, one, { concurrency: 3 })
        assert.deepStrictEqual(wrong.flat(), [])
      })

    it.effect.each([
      ["in a pipe", false],
      ["written to a terminal", true]
    ] as const)("ends with 0 where all is well, %s", ([, isTerminal]) =>
      good((home, args, env, input) =>
        Effect.map(runHere(args, { env: { ...env, HOME: home }, input, isTerminal }), ({ code, stderr }) => ({
          code,
          text: stderr
        }))
      )
    )

    const inTerminals = (isTried?: (path: string) => boolean) =>
      good(
        (home, args, env, typed) =>
          Effect.scoped(
            Effect.gen(function* () {
              const terminal = yield* openTerminal(home, args, { env })
              if (typed !== "") {
                yield* terminal.shows("API key")
                yield* terminal.type(`${typed}${keys.enter}`)
              }
              const { code, screen } = yield* terminal.ended
              return { code, text: screen }
            })
          ),
        isTried
      )
    const groupOf = (path: string) => path.split(" ")[0]
    /** One of each group of commands, and those of several steps. */
    const some = new Set([
      ...new Map(rows.toReversed().map(([path]) => [groupOf(path), path])).values(),
      "contacts apply",
      "contacts undo",
      "auth login"
    ])

    it.effect.skipIf(!hasTerminal)(
      "ends with 0 where all is well, as the one file that is published, in a terminal: one of each group (needs script)",
      () => inTerminals((path) => some.has(path))
    )

    it.effect.skipIf(!hasTerminal || !longRun)(
      "ends with 0 where all is well, as the one file that is published, in a terminal: all (needs script) (nightly)",
      () => inTerminals()
    )
  }
)
