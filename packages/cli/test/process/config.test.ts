import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { bin, ended, environmentOf, failure, jsonOf, type Roster, temporaryFolder } from "../roster.ts"
import { fakeService } from "../service.ts"

const secret = "abcdefghijklmnopqrstuvwxyz0123456789"
const url = "https://example.com/v4"
const login = ["auth", "login", "--base-url", url, "--no-check", "--profile"]
const content = JSON.stringify({ profile: "a", profiles: { a: { baseUrl: url, apiKey: secret } } })

/** Windows has neither modes nor owners nor named pipes. */
const hasModes = process.getuid !== undefined
const isRoot = process.getuid?.() === 0

/** A user with a file of one profile. */
const withConfig = Effect.gen(function* () {
  const roster = yield* makeRosterHere
  const folder = join(roster.folder, ".config", "roster")
  const file = join(folder, "config.json")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(file, content, { mode: 0o600 })
  return { ...roster, home: roster.folder, folder, file }
})

/** Runs a line of the shell, in which `$ROSTER` is the command. Whatever waits is killed, and fails its test. */
const shell = (home: string, line: string) =>
  Effect.promise(() => {
    const ROSTER = `timeout -s KILL 20 ${process.execPath} ${bin}`
    const child = spawn("/bin/sh", ["-c", line], { cwd: home, env: { ...environmentOf(home), ROSTER } })
    child.stdin.end()
    return ended(child)
  })

/** Both reading and writing commands refuse the file, with the path and without the key; gives the hint. */
const refusedBy = Effect.fnUntraced(function* ({ run }: Roster, path: string, problem: RegExp) {
  const hints: Array<string> = []
  for (const args of [
    ["profile", "list"],
    ["contacts", "list"],
    [...login, "b"]
  ]) {
    const refused = yield* run(args, { input: secret })
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], `${args.join(" ")}: ${refused.stderr}`)
    const { code, hint, message } = failure(refused)
    assert.strictEqual(code, "UsageError")
    assert.include(message, path)
    assert.match(message, problem)
    assert.notInclude(refused.stderr, secret)
    hints.push(hint)
  }
  return hints[0] ?? ""
})

const names = ({ run }: Roster) =>
  Effect.map(run(["profile", "list"]), (listed) => {
    assert.strictEqual(listed.code, 0, listed.stderr)
    return jsonOf<ReadonlyArray<{ Name: string }>>(listed).map(({ Name }) => Name)
  })

describe("the file of profiles", () => {
  it.live.skipIf(!hasModes)(
    "K01 is refused if others can change it or its folder, and the command in the hint mends that",
    () =>
      Effect.gen(function* () {
        const user = yield* withConfig
        for (const [path, mode] of [
          [user.file, 0o602],
          [user.file, 0o620],
          [user.folder, 0o702],
          [user.folder, 0o777]
        ] as const) {
          chmodSync(path, mode)
          const hint = yield* refusedBy(user, path, /other users can change it/)
          assert.strictEqual(statSync(path).mode & 0o777, mode)
          assert.strictEqual(readFileSync(user.file, "utf8"), content)
          execFileSync("/bin/sh", ["-c", hint.slice(hint.indexOf("run: ") + 5)])
          assert.deepStrictEqual(yield* names(user), ["a"])
        }
        // What others can only read is changed by nobody else; the next login makes it private.
        chmodSync(user.file, 0o644)
        chmodSync(user.folder, 0o755)
        assert.deepStrictEqual(yield* names(user), ["a"])
        assert.strictEqual((yield* user.run([...login, "b"], { input: secret })).code, 0)
        assert.deepStrictEqual(
          [user.folder, user.file].map((path) => statSync(path).mode & 0o777),
          [0o700, 0o600]
        )
        // A folder in which others could have removed the file is no sign that there is none.
        rmSync(user.file)
        chmodSync(user.folder, 0o777)
        yield* refusedBy(user, user.folder, /other users can change it/)
      })
  )

  it.live.skipIf(!isRoot)("is refused if it or its folder belongs to another user", () =>
    Effect.gen(function* () {
      const user = yield* withConfig
      for (const path of [user.file, user.folder]) {
        chownSync(path, 12_345, 12_345)
        const hint = yield* refusedBy(user, path, /another user \(uid 12345\)/)
        execFileSync("/bin/sh", ["-c", hint.slice(hint.indexOf("run: ") + 5)])
        assert.deepStrictEqual(yield* names(user), ["a"])
      }
    })
  )

  it.live.skipIf(!hasModes)("is refused at once if it is a pipe, a device or a folder", () =>
    Effect.gen(function* () {
      const user = yield* withConfig
      const run = (args: ReadonlyArray<string>) => shell(user.home, `exec $ROSTER ${args.join(" ")}`)
      for (const [place, words] of [
        [() => execFileSync("mkfifo", ["-m", "600", user.file]), /a pipe/],
        [() => symlinkSync("/dev/zero", user.file), /a device/],
        [() => mkdirSync(user.file), /a folder/]
      ] as const) {
        rmSync(user.file, { recursive: true })
        place()
        const hint = yield* refusedBy({ ...user, run }, user.file, words)
        assert.include(hint, `mv ${user.file} `)
        assert.isFalse(lstatSync(user.file).isFile())
      }
    })
  )

  it.live.skipIf(!hasModes)("is found behind a symbolic link, which stays one", () =>
    Effect.gen(function* () {
      const user = yield* withConfig
      const dotfiles = join(user.home, "dotfiles")
      const real = join(dotfiles, "roster.json")
      mkdirSync(dotfiles)
      writeFileSync(real, content, { mode: 0o644 })
      rmSync(user.file)
      symlinkSync("../../dotfiles/roster.json", user.file)
      assert.deepStrictEqual(yield* names(user), ["a"])
      const added = yield* user.run([...login, "b"], { input: secret })
      assert.strictEqual(added.code, 0, added.stderr)
      assert.isTrue(lstatSync(user.file).isSymbolicLink())
      assert.strictEqual(statSync(real).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* names(user), ["a", "b"])

      chmodSync(dotfiles, 0o777)
      yield* refusedBy(user, dotfiles, /other users can change it/)
      chmodSync(dotfiles, 0o755)
      chmodSync(real, 0o666)
      yield* refusedBy(user, real, /other users can change it/)
      rmSync(real)
      yield* refusedBy(user, user.file, /a symbolic link to a file that does not exist/)
      assert.isTrue(lstatSync(user.file).isSymbolicLink())
      assert.isFalse(existsSync(real))
    })
  )

  it.live("is refused if its version is unknown, and is not changed", () =>
    Effect.gen(function* () {
      const user = yield* withConfig
      for (const version of [2, 0, "1", null, secret]) {
        const newer = JSON.stringify({ ...JSON.parse(content), version })
        writeFileSync(user.file, newer)
        yield* refusedBy(user, user.file, /a version that this program does not know/)
        assert.strictEqual(readFileSync(user.file, "utf8"), newer)
      }
      writeFileSync(user.file, JSON.stringify({ ...JSON.parse(content), version: 1 }))
      assert.deepStrictEqual(yield* names(user), ["a"])
    })
  )

  it.live("keeps the fields that another version wrote, through every command that changes it", () =>
    Effect.gen(function* () {
      const user = yield* withConfig
      const profile = { baseUrl: url, apiKey: secret, region: ["eu"] }
      const added = { theme: { dark: true }, toString: 1 }
      writeFileSync(user.file, JSON.stringify({ ...added, profile: "a", profiles: { a: profile, b: profile } }))
      const commands: ReadonlyArray<readonly [ReadonlyArray<string>, object]> = [
        [["profile", "use", "b"], { profile: "b", profiles: { a: profile, b: profile } }],
        [["auth", "logout"], { profile: "b", profiles: { a: profile, b: { baseUrl: url, region: ["eu"] } } }],
        [[...login, "b"], { profile: "b", profiles: { a: profile, b: profile } }],
        [["profile", "remove", "b"], { profiles: { a: profile } }],
        // What is removed does not come back.
        [[...login, "b"], { profile: "b", profiles: { a: profile, b: { baseUrl: url, apiKey: secret } } }]
      ]
      for (const [args, expected] of commands) {
        const changed = yield* user.run(args, { input: secret })
        assert.strictEqual(changed.code, 0, changed.stderr)
        assert.deepStrictEqual(
          JSON.parse(readFileSync(user.file, "utf8")),
          { version: 1, ...added, ...expected },
          args.join(" ")
        )
      }
    })
  )
})

describe("a key file", () => {
  it.live.skipIf(!hasModes)("that others can read is named, and used", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* fakeService((_, response) =>
        response.writeHead(200, { "Content-Type": "application/json" }).end("[]")
      )
      const key = join(folder, "my key")
      writeFileSync(key, secret)
      const at = ["--base-url", env.ROSTER_BASE_URL]
      for (const [mode, isNamed] of [
        [0o644, true],
        [0o440, true],
        [0o602, true],
        [0o600, false],
        [0o400, false]
      ] as const) {
        chmodSync(key, mode)
        for (const args of [
          ["contacts", "list", ...at, "--api-key-file", key],
          ["auth", "login", ...at, "--key-file", key]
        ]) {
          const { code, stderr } = yield* run(args)
          assert.strictEqual(code, 0, stderr)
          assert.strictEqual(stderr.includes(`chmod 600 '${key}'`), isNamed, `${mode.toString(8)}: ${stderr}`)
          assert.notInclude(stderr, secret)
        }
      }
      const piped = yield* run(["contacts", "list", ...at, "--api-key-file", "-"], { input: secret })
      assert.deepStrictEqual([piped.code, piped.stderr], [0, ""])
    })
  )
})

describe("an argument", () => {
  it.live.skipIf(process.platform !== "linux")("is refused if it is not UTF-8, and U+FFFD itself is not", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const add = (local: string) =>
        shell(folder, `exec $ROSTER contacts add ann@example.com --last-name "$(printf '${local}')" --db store.db`)
      for (const bytes of ["Caf\\351", "\\377", "\\355\\240\\200", "\\303", "\\357\\277\\275\\351"]) {
        const refused = yield* add(bytes)
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], refused.stderr)
        assert.deepStrictEqual(
          [failure(refused).code, failure(refused).message],
          ["UsageError", "Argument 5 is not UTF-8 text."]
        )
      }
      assert.isFalse(existsSync(join(folder, "store.db")))
      for (const bytes of ["Caf\\303\\251", "\\357\\277\\275"]) {
        const added = yield* add(bytes)
        assert.strictEqual(added.code, 0, added.stderr)
      }
    })
  )
})
