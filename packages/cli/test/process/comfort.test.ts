import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { makeRosterHere, runHere } from "../inProcess.ts"
import { bin, environmentOf, failure, makeRoster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"
import { hasTerminal, inTerminal } from "../pty/terminal.ts"

/** What bash offers for the last of these words. `_init_completion` is that of the package bash-completion. */
const completed = (folder: string, script: string, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const quoted = words.map((word) => `'${word}'`).join(" ")
  const program = `
    _init_completion() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}; }
    source '${script}'
    COMP_WORDS=(roster ${quoted}); COMP_CWORD=${words.length}
    _roster roster "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...environmentOf(folder), PATH: [folder, process.env["PATH"]].join(delimiter) }
  return execFileSync("bash", ["-c", program], { cwd: folder, env, encoding: "utf8" }).split("\n").filter(Boolean)
}

describe("completions", () => {
  it.live("complete files, profiles, access levels and purposes in bash", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      for (const name of ["work", "production"]) {
        yield* run(["auth", "login", "--base-url", "https://example.com/v4", "--no-check", "-p", name], {
          input: "test-key"
        })
      }
      writeFileSync(join(folder, "contacts.csv"), "")
      writeFileSync(join(folder, "roster"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 })
      const script = join(folder, "completion.bash")
      writeFileSync(script, (yield* run(["completions", "bash"])).stdout)
      const of = (...words: ReadonlyArray<string>) => completed(folder, script, words)
      assert.deepStrictEqual(of("contacts", "import", "con"), ["contacts.csv"])
      assert.deepStrictEqual(of("contacts", "export", "--out", "con"), ["contacts.csv"])
      assert.deepStrictEqual(of("contacts", "list", "--db", "con"), ["contacts.csv"])
      assert.deepStrictEqual(of("apikeys", "create", "ci", "--access", "ViewContac"), ["ViewContacts"])
      assert.deepStrictEqual(of("apikeys", "create", "ci", "--for", "contacts:r"), ["contacts:read"])
      assert.deepStrictEqual(of("profile", "use", "pro"), ["production"])
      assert.deepStrictEqual(of("profile", "use", "lo"), ["local"])
      assert.deepStrictEqual(of("contacts", "list", "--profile", "w"), ["work"])
      assert.deepStrictEqual(of("contacts", "ex"), ["export"])
    })
  )

  it.live.each([
    ["zsh", /--out[^\n]*:_files/, /--profile[^\n]*:_roster_profile_names'/, /--access[^\n]*:\(None ViewAccount /],
    [
      "fish",
      /-l out [^\n]*-r -F/,
      /-l profile [^\n]*-a '\(__roster_profile_names\) local'/,
      /-l for [^\n]*contacts\\?:read/
    ]
  ] as const)("complete the same in %s", ([shell, ...patterns]) =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const { code, stdout } = yield* run(["completions", shell])
      assert.strictEqual(code, 0)
      for (const pattern of patterns) assert.match(stdout, pattern)
      assert.notInclude(stdout, "ROSTER_PROFILE_NAMES")
      if (shell === "zsh") assert.match(stdout, /^#compdef roster\n/)
    })
  )

  it.live("know every flag that takes a file", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRosterHere
      const fish = (yield* run(["completions", "fish"])).stdout
      interface Command {
        readonly name: string
        readonly subcommands: ReadonlyArray<Command>
      }
      const paths = (command: Command, above: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
        command.subcommands.length === 0
          ? [above]
          : command.subcommands.flatMap((sub) => paths(sub, [...above, sub.name]))
      const tree: Command = JSON.parse((yield* run(["commands", "-o", "json"])).stdout)
      const pages = yield* Effect.forEach(paths(tree, []), (words) => runHere([...words, "--help"]))
      const files = pages.flatMap(({ stdout }) =>
        Array.from(stdout.matchAll(/--([\w-]+)[^\n]* (?:FILE|PATH)(?:\|-)?\b/g), ([, flag = ""]) => flag)
      )
      assert.include(files, "tls-key")
      for (const flag of new Set(files)) assert.match(fish, new RegExp(`-l ${flag} [^\\n]*-r -F`), flag)
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
        const personal = yield* run([...args, "--debug-http-personal"], { env })
        assert.match(personal.stderr, /^> GET \S*ann(?:%40|@)example\.com/m)
        for (const { stderr } of [debugged, personal]) assert.notInclude(stderr, key)
      }
      // The link of an export is a secret of its own.
      const exported = yield* run(["contacts", "export", "--debug-http-personal"], { env })
      assert.match(exported.stderr, /^> GET \S+\/v4\/exports\/…\/\S+$/m)
      const local = yield* run([...get, "--debug-http", "--db", join(folder, "other.db")])
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
      const { code, stderr } = yield* run(["contacts", "list", "--debug-http-personal"], { env })
      assert.strictEqual(code, 0)
      assert.match(stderr, /^< set-cookie: …$/m)
      assert.notInclude(stderr, "canary")
    })
  )
})
