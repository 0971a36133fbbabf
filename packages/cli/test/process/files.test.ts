import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { bin, ended, environmentOf, failure, filesIn, json, type RunOptions, temporaryFolder } from "../roster.ts"
import { fakeService } from "../service.ts"

const token = "canary-token-7c1d9e52f0"
const id = "3fa85f64-5717-4562-b3fc-2c963f66afa6"

/** Runs a line of the shell, in which `$ROSTER` is the command. */
const shell = (folder: string, line: string, options: RunOptions & { readonly nodeFlags?: string } = {}) =>
  Effect.promise(() => {
    const { env, nodeFlags = "" } = options
    const child = spawn("/bin/sh", ["-c", line], {
      cwd: folder,
      env: {
        ...environmentOf(folder),
        ROSTER: `${process.execPath} ${nodeFlags} ${bin}`,
        ...env
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
    return ended(child)
  })

const answerJson = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body))

/** A service that makes every key that is asked for, and answers so when one is deleted. */
const keyMakerOf = (deleted: number) =>
  fakeService((request: IncomingMessage, response: ServerResponse) => {
    if (request.method === "DELETE") return response.writeHead(deleted).end()
    return answerJson(response, 201, {
      Name: "ci",
      DateCreated: "2026-01-01T00:00:00Z",
      LastUse: null,
      Expires: null,
      RestrictAccessToIPRange: [],
      AccessLevel: ["Export"],
      Token: token
    })
  })
const keyMaker = keyMakerOf(200)

const create = ["apikeys", "create", "ci", "--access", "Export"]

describe("a new secret", () => {
  it.live("K05 is not requested if its output is closed or its file exists", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, requests } = yield* keyMaker
      writeFileSync(join(folder, "mine"), "mine")
      mkdirSync(join(folder, "dir"))
      for (const out of ["mine", "dir", "absent/key", "/dev/full", "/dev/null"]) {
        const refused = yield* run([...create, "--out", out], { env })
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], `${out}: ${refused.stderr}`)
      }
      for (const redirection of [">&-", ">/dev/null", ">/dev/full"]) {
        const refused = yield* shell(folder, `exec $ROSTER ${create.join(" ")} ${redirection}`, { env })
        assert.strictEqual(refused.code, 2, `${redirection} ${refused.stderr}`)
        assert.include(failure(refused).hint, "--out")
      }
      assert.deepStrictEqual(requests, [])
      assert.strictEqual(readFileSync(join(folder, "mine"), "utf8"), "mine")
      assert.sameMembers(readdirSync(folder), ["mine", "dir"])
    })
  )

  it.live("K05 is written to a file readable by its owner only, and nowhere else", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { env, requests } = yield* keyMaker
      const made = yield* shell(folder, `umask 000; exec $ROSTER ${create.join(" ")} --out key`, { env })
      assert.strictEqual(made.code, 0, made.stderr)
      assert.strictEqual(readFileSync(join(folder, "key"), "utf8"), `${token}\n`)
      assert.strictEqual(statSync(join(folder, "key")).mode & 0o777, 0o600)
      assert.notInclude(made.stdout + made.stderr, token)
      assert.strictEqual(Object(json(made)).Name, "ci")
      assert.deepStrictEqual(requests, ["POST /v4/security/apikeys"])
      assert.deepStrictEqual(readdirSync(folder), ["key"])
    })
  )

  it.live("K05 that could not be delivered: the key is deleted again", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { env, requests } = yield* keyMaker
      // The reader has gone before the key was made.
      const unread = yield* shell(folder, `$ROSTER ${create.join(" ")} | true`, { env })
      assert.include(unread.stderr, "ci was deleted again")
      assert.notInclude(unread.stderr, token)
      assert.deepStrictEqual(requests, ["POST /v4/security/apikeys", "DELETE /v4/security/apikeys/ci"])
    })
  )

  it.live("K05 that is lost: its name is said, also with --quiet", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { env } = yield* keyMakerOf(401)
      const lost = yield* shell(folder, `$ROSTER ${create.join(" ")} --quiet | true`, { env })
      assert.include(lost.stderr, "The secret of ci could not be delivered and is lost. Delete ci.")
    })
  )

  it.live("K05 is printed for --out -, and stands in no file of that name", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const made = yield* run([...create, "--out", "-"])
      assert.match(Object(json(made)).Token, /^\S{20,}$/)
      const rotated = yield* run(["apikeys", "rotate", "ci", "--out", "-"])
      assert.match(Object(json(rotated)).Token, /^\S{20,}$/)
      assert.notInclude(readdirSync(folder), "-")
    })
  )
})

/** Exports that are ready at once, with a name of the service's own for the file. */
const exporter = (content: (response: ServerResponse) => void) =>
  Effect.gen(function* () {
    let base = ""
    const service = yield* fakeService((request, response) => {
      if (request.method === "POST") return answerJson(response, 202, { Link: `${base}/file`, PublicExportID: id })
      if (request.url?.endsWith("/status") === true) return answerJson(response, 200, "Ready")
      response.setHeader("Content-Type", "text/csv")
      response.setHeader("Content-Disposition", 'attachment; filename="../../evil.csv"')
      return content(response)
    })
    base = service.env.ROSTER_BASE_URL
    return service
  })

/** A disk of 64 KiB, where this user may mount one. */
const tinyDisk = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      try {
        mkdirSync(folder)
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=65536", "roster", folder], { stdio: "ignore" })
        return folder
      } catch {
        return undefined
      }
    }),
    (mounted) =>
      Effect.sync(() => {
        if (mounted !== undefined) execFileSync("umount", ["--lazy", mounted], { stdio: "ignore" })
      })
  )

describe("a file that is written", () => {
  it.live("K08 has the name that it was given and no other, and replaces nothing unasked", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, requests } = yield* exporter((response) => response.end("Email\r\nann@example.com\r\n"))
      mkdirSync(join(folder, "work/deep/dir"), { recursive: true })
      const inside = join(folder, "work/deep")
      const out = join(inside, "out.csv")
      const exported = yield* run(["contacts", "export", "--out", out], { env })
      assert.strictEqual(exported.code, 0, exported.stderr)
      assert.strictEqual(readFileSync(out, "utf8"), "Email\r\nann@example.com\r\n")
      requests.length = 0
      for (const taken of [out, join(inside, "dir"), "/dev/full", join(inside, "absent/out.csv")]) {
        for (const force of taken === out ? [[]] : [[], ["--force"]]) {
          const refused = yield* run(["contacts", "export", "--out", taken, ...force], { env })
          assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], `${taken} ${refused.stderr}`)
        }
      }
      assert.deepStrictEqual(requests, [])
      assert.isTrue(statSync("/dev/full").isCharacterDevice())
      const again = yield* run(["contacts", "export", "--out", out, "--force"], { env })
      assert.strictEqual(again.code, 0, again.stderr)
      assert.deepStrictEqual(filesIn(folder), ["work"])
      assert.deepStrictEqual(readdirSync(inside).sort(), ["dir", "out.csv"])
    })
  )

  it.live("K08 does not exist if the download was cut off", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const cut = yield* exporter((response) => {
        response.setHeader("Content-Length", "1000000")
        response.write("Email\r\n")
        setImmediate(() => response.destroy())
      })
      const broken = yield* run(["contacts", "export", "--out", "out.csv"], { env: cut.env })
      assert.strictEqual(broken.code, 8, broken.stderr)
      assert.deepStrictEqual(filesIn(folder), [])
    })
  )

  it.live("K08 does not exist if the disk is full (needs to mount one)", (context) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const disk = yield* tinyDisk(join(folder, "disk"))
      if (disk === undefined) return context.skip()
      const { env } = yield* exporter((response) => response.end(`Email\r\n${"a".repeat(200_000)}`))
      const full = yield* run(["contacts", "export", "--out", join(disk, "out.csv")], { env })
      assert.deepStrictEqual([full.code, failure(full).code], [2, "FileProblem"])
      assert.match(failure(full).message, /the disk is full/)
      assert.deepStrictEqual(readdirSync(disk), [])
      const { env: keys, requests } = yield* keyMaker
      assert.throws(() => writeFileSync(join(disk, "ballast"), Buffer.alloc(70_000)), /ENOSPC/)
      const lost = yield* run([...create, "--out", join(disk, "key")], { env: keys })
      // There is no room for the secret, so that it is not asked for.
      assert.strictEqual(lost.code, 2, lost.stderr)
      assert.deepStrictEqual(requests, [])
      assert.deepStrictEqual(readdirSync(disk), ["ballast"])
    })
  )
})

describe("a file that is read", () => {
  it.live("K11 is a file or a pipe, and anything else is said to be none, in bounded memory", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeLocalRosterHere
      const db = join(folder, "store.db")
      mkdirSync(join(folder, "dir"))
      writeFileSync(join(folder, "empty.csv"), "")
      closeSync(openSync(join(folder, "huge.csv"), "w"))
      truncateSync(join(folder, "huge.csv"), 10_000_000_000)
      for (const [file, code] of [
        ["dir", "FileProblem"],
        ["absent.csv", "FileProblem"],
        ["empty.csv", "UnreadableFile"]
      ] as const) {
        const refused = yield* run(["contacts", "import", file])
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, code], `${file}: ${refused.stderr}`)
      }
      for (const [file, code] of [
        ["/dev/zero", "UsageError"],
        ["huge.csv", "UnreadableFile"]
      ] as const) {
        const refused = yield* shell(folder, `exec timeout -s KILL 30 $ROSTER contacts import ${file} --db ${db}`, {
          nodeFlags: "--max-old-space-size=64"
        })
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, code], `${file}: ${refused.stderr}`)
      }
      assert.isFalse(existsSync(db), "a store was made for a file that was refused")
      // The limit is for the test: whoever opens a pipe that nobody writes waits for ever.
      const pipe = yield* shell(
        folder,
        `mkfifo pipe; { timeout -s KILL 20 sh -c "printf 'Email\\nann@example.com\\n' > pipe" & }; exec timeout -s KILL 20 $ROSTER contacts import pipe --db ${db}`
      )
      assert.strictEqual(pipe.code, 0, pipe.stderr)
      assert.strictEqual(Object(json(pipe)).done, 1)
    })
  )

  it.live("K11 of a key is small: a device that never ends is refused", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env, requests } = yield* keyMaker
      const at = ["--base-url", env.ROSTER_BASE_URL]
      writeFileSync(join(folder, "large"), "k".repeat(70_000))
      mkdirSync(join(folder, "dir"))
      for (const file of ["/dev/zero", "large", "dir", "/dev/null"]) {
        const listed = yield* run(["contacts", "list", ...at, "--api-key-file", file])
        assert.strictEqual(listed.code, file === "/dev/null" ? 4 : 2, `${file}: ${listed.stderr}`)
        const login = yield* run(["auth", "login", ...at, "--key-file", file])
        assert.notStrictEqual(login.code, 0, file)
      }
      assert.deepStrictEqual(requests, [])
    })
  )
})
