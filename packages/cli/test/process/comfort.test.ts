import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { makeRosterHere, runHere } from "../inProcess.ts"
import { bin, environmentOf, failure, jsonOf, makeRoster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"
import { hasTerminal, inTerminal } from "../pty/terminal.ts"

/** What bash offers for a line that is typed, with a `roster` in the folder. Bash divides words at : and = too. */
const completed = (folder: string, script: string, line: string): ReadonlyArray<string> => {
  const pieces = line.split(/(?<=[:=])|(?=[:=])| +/)
  const words = pieces.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")
  const program = `
    set -u
    source '${script}'
    COMP_LINE='${line.replaceAll("'", `'\\''`)}' COMP_POINT=${line.length}
    COMP_WORDS=(${words}) COMP_CWORD=${pieces.length - 1}
    _roster
    printf '%s\\n' "\${COMPREPLY[@]-}"`
  const env = { ...environmentOf(folder), PATH: [folder, process.env["PATH"]].join(delimiter) }
  return execFileSync("bash", ["-c", program], { cwd: folder, env, encoding: "utf8" }).split("\n").filter(Boolean)
}

/** The words that fit the last of some words. */
const fitting = (answer: string): ReadonlyArray<string> =>
  answer
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t")[0] ?? "")

const shells = ["bash", "zsh", "fish", "powershell"] as const

describe("completions", () => {
  it.live("are small scripts, whatever commands there are, and bash offers what the program says", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      for (const shell of shells) {
        const { code, stdout } = yield* run(["completions", shell])
        assert.strictEqual(code, 0)
        assert.isBelow(stdout.length, 2048, shell)
        assert.include(stdout, `roster completions ${shell} -- `)
      }
      assert.match((yield* run(["completions", "zsh"])).stdout, /^#compdef roster\n/)
      writeFileSync(join(folder, "contacts.csv"), "")
      writeFileSync(join(folder, "roster"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 })
      const script = join(folder, "completion.bash")
      writeFileSync(script, (yield* run(["completions", "bash"])).stdout)
      const of = (line: string) => completed(folder, script, line)
      assert.deepStrictEqual(of("roster contacts import con"), ["contacts.csv"])
      assert.deepStrictEqual(of("roster contacts export --out=con"), ["contacts.csv"])
      assert.deepStrictEqual(of("roster apikeys create ci --for contacts:r"), ["read"])
      assert.deepStrictEqual(of("roster contacts list --output="), ["table", "json", "ndjson", "csv"])
    })
  )

  it.live("offer commands, flags, values, and the names that files and local stores have", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const of = (...words: ReadonlyArray<string>) =>
        Effect.map(run(["completions", "fish", "--", ...words]), ({ stdout }) => fitting(stdout))
      const login = ["auth", "login", "--base-url", "https://example.com/v4", "--no-check", "-p"]
      for (const name of ["work", "production"]) yield* run([...login, name], { input: "test-key" })
      yield* run(["profile", "use", "local"])
      yield* run(["rules", "save", "vip", "status = Active"])
      // No key press makes a store.
      assert.deepStrictEqual(yield* of("contacts", "list", "--on", ""), [])
      assert.isFalse(existsSync(join(folder, ".local/share/roster/roster.db")))
      yield* run(["contacts", "add", "ann@example.com", "--field", "city=Bonn", "--list", "VIP list"])
      yield* run(["apikeys", "create", "ci", "--access", "ViewContacts"])
      yield* run(["contacts", "update", "ann@example.com", "--field", "plan=pro"])
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, ReadonlyArray<string>]> = [
        [["contacts", "ex"], ["export"]],
        [["-o", "json", "contacts", "ex"], ["export"]],
        [["contacts", "ls", "--lim"], ["--limit"]],
        [["apikeys", "create", "ci", "--access", "ViewContac"], ["ViewContacts"]],
        [["profile", "use", "pro"], ["production"]],
        [["contacts", "list", "--profile", "w"], ["work"]],
        [["contacts", "list", "--profile=w"], ["--profile=work"]],
        [["contacts", "list", "--on", ""], ["VIP list"]],
        [["lists", "add", ""], ["VIP list"]],
        [["contacts", "count", "--rule", "@"], ["@vip"]],
        [["contacts", "add", "bob@example.com", "--field", "c"], ["city="]],
        [["contacts", "undo", "last", "--field", "p"], ["plan"]],
        [["apikeys", "get", ""], ["ci"]],
        [["apikeys", "create", ""], []],
        // A service is not asked.
        [["apikeys", "get", "--profile", "work", ""], []],
        [["apikeys", "get", "--db", "nowhere.db", ""], []],
        [["contacts", "get", "--", "--lim"], []],
        [["nonsense", ""], []]
      ]
      for (const [words, expected] of cases) {
        // On a busy machine the names are not found in time.
        const found = yield* expected.length === 0
          ? of(...words)
          : Effect.repeat(of(...words), { until: (found) => found.length > 0, times: 50 })
        assert.deepStrictEqual(found, expected, words.join(" "))
      }
      const runs = jsonOf<ReadonlyArray<{ readonly id: string }>>(yield* run(["contacts", "runs"]))
      assert.deepStrictEqual(
        yield* of("contacts", "undo", ""),
        runs.map(({ id }) => id)
      )
      assert.lengthOf(runs, 1)
    })
  )

  it.live("know every flag that takes a file", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      interface Command {
        readonly name: string
        readonly subcommands: ReadonlyArray<Command>
      }
      const paths = (command: Command, above: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
        command.subcommands.length === 0
          ? [above]
          : command.subcommands.flatMap((sub) => paths(sub, [...above, sub.name]))
      const tree: Command = JSON.parse((yield* run(["commands", "-o", "json"])).stdout)
      const asked = new Set<string>()
      for (const words of paths(tree, [])) {
        const { stdout } = yield* runHere([...words, "--help"])
        for (const [, flag = ""] of stdout.matchAll(/--([\w-]+)[^\n]* (?:FILE|PATH)(?:\|-)?\b/g)) {
          if (asked.has(flag)) continue
          asked.add(flag)
          const answer = yield* run(["completions", "bash", "--", ...words, `--${flag}`, ""])
          assert.strictEqual(answer.stdout, "files\t\n", flag)
        }
      }
      assert.include([...asked], "tls-key")
    })
  )
})

describe("roster help", () => {
  it.live("shows the help of a command", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRoster
      const pairs = [
        [["help"], ["--help"]],
        [
          ["help", "contacts", "import"],
          ["contacts", "import", "--help"]
        ]
      ] as const
      for (const [word, flag] of pairs) {
        const [helped, shown] = [yield* run(word), yield* run(flag)]
        assert.deepStrictEqual([helped.code, helped.stdout], [0, shown.stdout])
        assert.match(helped.stdout, /^DESCRIPTION/)
      }
    })
  )
})

describe.skipIf(!hasTerminal)("--no-input (needs script)", () => {
  it.live("asks for nothing on a terminal", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const store = ["--db", join(folder, "store.db")]
      yield* run(["contacts", "add", "ann@example.com", ...store])
      const remove = ["contacts", "delete", "ann@example.com", ...store]
      for (const [args, env] of [
        [["--no-input"], {}],
        [[], { ROSTER_NO_INPUT: "true" }]
      ] as const) {
        const declined = yield* inTerminal(folder, [...remove, ...args], { env })
        assert.strictEqual(declined.code, 3, declined.screen)
        assert.notInclude(declined.screen, "[y/N]")
        const login = yield* inTerminal(folder, ["auth", "login", "--base-url", "https://example.com/v4", ...args], {
          env
        })
        assert.strictEqual(login.code, 2, login.screen)
        assert.include(login.screen, "--key-file")
      }
      assert.strictEqual((yield* run([...remove, "--no-input", "--yes"])).code, 0)
    })
  )
})

describe("--debug-http", () => {
  it.live("shows requests with headers and times, without keys, and e-mail addresses only with a second flag", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, key } = yield* serveWithKey(folder)
      yield* run(["contacts", "add", "ann@example.com"], { env })
      const get = ["contacts", "get", "ann@example.com"]
      const rule = ["contacts", "list", "--rule", "email = 'ann@example.com'"]
      for (const [args, address] of [
        [get, `${env.ROSTER_BASE_URL}/contacts/…`],
        [rule, `${env.ROSTER_BASE_URL}/contacts?limit=21&rule=…`]
      ] as const) {
        const plain = yield* run(args, { env })
        const debugged = yield* run([...args, "--debug-http"], { env })
        assert.deepStrictEqual([debugged.code, debugged.stdout], [0, plain.stdout])
        assert.include(debugged.stderr, `> GET ${address}\n`)
        assert.match(debugged.stderr, /^> x-service-apikey: …$/m)
        assert.match(debugged.stderr, /^< 200 after \d+ ms$/m)
        assert.match(debugged.stderr, /^< content-type: application\/json/m)
        assert.notInclude(debugged.stderr, "ann")
        assert.notInclude(debugged.stderr, key)
      }
      // The link of an export is a secret of its own.
      const exported = yield* run(["contacts", "export", "--debug-http"], { env })
      assert.match(exported.stderr, /^> GET \S+\/v4\/exports\/…\/…$/m)
      const other = ["--db", join(folder, "other.db")]
      yield* run(["contacts", "add", "bob@example.com", ...other])
      const local = yield* run([...get, "--debug-http", ...other])
      assert.match(local.stderr, /^< 404 after/m)
      const dead = { ...env, ROSTER_BASE_URL: "http://127.0.0.1:9/v4" }
      const unanswered = yield* run([...get, "--debug-http"], { env: dead })
      assert.strictEqual(unanswered.code, 8)
      assert.match(unanswered.stderr, /^< no answer \(TransportError\) after \d+ ms$/m)
      assert.strictEqual(failure(unanswered).code, "Unavailable")
    })
  )

  it.live("shows no header of a service that may hold a secret", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { env } = yield* fakeService((_, response) =>
        response
          .writeHead(200, { "Content-Type": "application/json", "Set-Cookie": "sid=canary", "X-User": "canary" })
          .end("[]")
      )
      const { code, stderr } = yield* run(["contacts", "list", "--debug-http"], { env })
      assert.strictEqual(code, 0)
      assert.match(stderr, /^< set-cookie: …$/m)
      assert.notInclude(stderr, "canary")
    })
  )
})
