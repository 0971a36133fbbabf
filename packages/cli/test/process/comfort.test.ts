import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeRosterHere, runHere } from "../inProcess.ts"
import { environmentOf, failure, jsonOf, makeRoster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"
import { hasTerminal, inTerminal } from "../pty/terminal.ts"

/** What bash offers for a line that is typed. Bash divides words at : and = too. */
const completed = (folder: string, script: string, line: string): ReadonlyArray<string> => {
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
  const pieces = line.split(/(?<=[:=])|(?=[:=])| +/)
  const program = `
    source '${script}'
    COMP_LINE=${quoted(line)} COMP_POINT=${line.length}
    COMP_WORDS=(${pieces.map(quoted).join(" ")}) COMP_CWORD=${pieces.length - 1}
    _roster roster ${pieces.slice(-2).toReversed().map(quoted).join(" ")}
    printf '%s\\n' "\${COMPREPLY[@]-}"`
  const env = environmentOf(folder)
  return execFileSync("bash", ["-c", program], { cwd: folder, env, encoding: "utf8" }).split("\n").filter(Boolean)
}

interface Described {
  readonly name: string
  readonly alias?: string
  readonly flags: ReadonlyArray<Valued & { readonly aliases: ReadonlyArray<string> }>
  readonly arguments: ReadonlyArray<Valued>
  readonly subcommands: ReadonlyArray<Described>
}

interface Valued {
  readonly name: string
  readonly type: { readonly _tag: string; readonly values?: ReadonlyArray<string> }
}

/** The commands that run, by their words. */
const leaves = (command: Described, above: ReadonlyArray<string> = []): ReadonlyArray<readonly [string, Described]> =>
  command.subcommands.length === 0
    ? [[above.join(" "), command]]
    : command.subcommands.flatMap((sub) => leaves(sub, [...above, sub.name]))

const wordsIn = (command: Described): ReadonlyArray<string> => [
  command.name,
  ...(command.alias === undefined ? [] : [command.alias]),
  ...command.flags.flatMap(({ aliases, name }) => [name, ...aliases]),
  ...command.arguments.flatMap(({ name, type: { values = [] } }) => [name, ...values]),
  ...command.subcommands.flatMap(wordsIn)
]

describe("completions", () => {
  it.live("offer the commands, flags and values of the program, and files, and run nothing", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const tree = jsonOf<Described>(yield* run(["commands", "-o", "json"]))
      const words = wordsIn(tree)
      assert.isAbove(words.length, 200)
      for (const word of words) assert.match(word, /^[\w@%+=:,./-]+$/)
      const bash = (yield* run(["completions", "bash"])).stdout
      const values = bash.match(/(?<=_roster--choices "\$cur" "\$_comp_word" ).*/g) ?? []
      assert.isAbove(values.length, 10)
      for (const line of values) assert.match(line, /^(?:'[\w@%+=:,./-]+' ?)+$/)
      for (const shell of ["bash", "zsh", "fish", "powershell"]) {
        const { code, stdout } = yield* run(["completions", shell])
        assert.strictEqual(code, 0)
        for (const [path] of leaves(tree)) assert.include(stdout, path.split(" ").at(-1) ?? "", shell)
        assert.notInclude(stdout, "roster --completions")
      }
      assert.match((yield* run(["completions", "zsh"])).stdout, /^#compdef roster\n/)
      yield* run(["contacts", "add", "ann@example.com", "--list", "zz$(touch run)"])
      writeFileSync(join(folder, "contacts.csv"), "")
      const script = join(folder, "completion.bash")
      writeFileSync(script, bash)
      const cases: ReadonlyArray<readonly [line: string, offered: ReadonlyArray<string>]> = [
        ["roster contacts ex", ["export"]],
        ["roster -o json contacts ex", ["export"]],
        ["roster --output nd", ["ndjson"]],
        ["roster contacts import a.csv --delimiter ", ["\\,", "tab"]],
        ["roster contacts ls --lim", ["--limit"]],
        ["roster contacts import con", ["contacts.csv"]],
        ["roster contacts export --out con", ["contacts.csv"]],
        ["roster apikeys create ci --access ViewContac", ["ViewContacts"]],
        ["roster apikeys create ci --for contacts:r", ["read"]],
        ['roster contacts list --on "zz', []],
        ["roster lists add zz", []],
        ["roster nonsense x", []]
      ]
      for (const [line, offered] of cases) assert.deepStrictEqual(completed(folder, script, line), offered, line)
      assert.isFalse(existsSync(join(folder, "run")))
    })
  )

  it.live("know every flag that takes a file", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const tree = jsonOf<Described>(yield* run(["commands", "-o", "json"]))
      const asked = new Set<string>()
      for (const [path, { flags }] of leaves(tree)) {
        const { stdout } = yield* runHere([...path.split(" "), "--help"])
        for (const [, flag = ""] of stdout.matchAll(/^ +--([\w-]+)[^\n]* (?:FILE|PATH)(?:\|-)?\b/gm)) {
          const type = [...flags, ...tree.flags].find(({ name }) => name === flag)?.type
          assert.strictEqual(type?._tag, "Path", `${path} --${flag}`)
          asked.add(flag)
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
