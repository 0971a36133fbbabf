/** The commands that messages name are for the target of the command that prints them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { request as ask } from "node:http"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { reportOf } from "../report.ts"
import { ended, failure, json, jsonOf, start } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

/** A service before another one, which passes on the first writes and keeps later ones without an answer. */
const holdingProxy = Effect.fnUntraced(function* (target: string, writes: number) {
  let count = 0
  let held = () => {}
  const isHeld = new Promise<void>((done) => {
    held = done
  })
  const { env } = yield* fakeService(
    (request, response) => {
      const isWrite = request.method !== "GET" && /^(?!.*dryRun).*\/contacts\b/.test(request.url ?? "")
      if (isWrite && ++count > writes) return held()
      const { host, port } = new URL(target)
      const onward = ask(
        { host: "127.0.0.1", port, method: request.method, path: request.url, headers: { ...request.headers, host } },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        }
      )
      // The command ends in the middle of a request.
      onward.on("error", () => response.destroy())
      return request.pipe(onward)
    },
    { knowsChanges: true }
  )
  return { address: env.ROSTER_BASE_URL, isHeld: Effect.promise(() => isHeld) }
})

describe("a suggested command", () => {
  it.live("names the store file that was named", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      writeFileSync(join(folder, "in.csv"), "Email,Status\nann@x.org,Bounced\nbob@x.org,\ncid@x.org,\n")
      const on = ["--db", "it's.db"]
      const words = '--db "it\'s.db"'
      const imported = yield* run(["contacts", "import", "in.csv", ...on])
      const { run: id } = jsonOf<{ run: string }>(imported)
      assert.include(imported.stderr, `To undo it: roster contacts undo ${id} ${words}\n`)
      const planned = yield* run(["contacts", "import", "in.csv", "--plan", "plan.json", "-o", "table", ...on])
      assert.include(planned.stdout, `roster contacts apply plan.json ${words}\n`)
      const rule = ["--rule", "status = Bounced"]
      const deleted = yield* run(["contacts", "delete", ...rule, "--yes", "-o", "table", ...on])
      const undo = deleted.stderr.split("\n").find((line) => line.startsWith("To undo it: roster contacts undo ")) ?? ""
      assert.isTrue(undo.endsWith(` ${words}`), deleted.stderr)
      const handed = yield* run(["contacts", "import", "in.csv", "--via", "file", ...on])
      assert.include(Object(json(handed)).status, `roster jobs list ${words}`)
    })
  )

  it.live("names the service and the profile that were named, in any form", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { env } = yield* fakeService((request, response) => {
        request.resume()
        response.writeHead(201, { "Content-Type": "text/html" }).end("<html>")
      })
      writeFileSync(join(folder, "key"), "test-key", { mode: 0o600 })
      const url = env.ROSTER_BASE_URL
      const login = ["auth", "login", "--base-url", url, "--no-check", "--key-file", "key", "--profile", "work"]
      assert.strictEqual((yield* run(login)).code, 0)
      for (const [flags, words] of [
        [[`--base-url=${url}`, "--api-key-file", "key"], `--base-url ${url} --api-key-file key`],
        [["-qp", "work"], "--profile work"],
        [["-p=work"], "--profile work"],
        [["--profile", "work", "--api-key-prefix", "Bearer "], "--profile work --api-key-prefix 'Bearer '"]
      ] as const) {
        const made = yield* run(["apikeys", "create", "ci", "--for", "export", ...flags])
        assert.include(failure(made).hint, `check with roster apikeys get ci ${words} before`, flags.join(" "))
      }
    })
  )

  it.live("resumes the undo of a run by its id, since the undo is the last run itself", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, keyFile } = yield* serveWithKey(folder)
      const on = (url: string) => ["--base-url", url, "--api-key-file", keyFile]
      writeFileSync(join(folder, "in.csv"), "Email\nann@x.org\n")
      writeFileSync(join(folder, "changed.csv"), `Email,FirstName\nann@x.org,Anna\nbob@x.org,Bob\n`)
      assert.strictEqual((yield* run(["contacts", "import", "in.csv", ...on(address)])).code, 0)
      const imported = yield* run(["contacts", "import", "changed.csv", ...on(address)])
      const { run: id } = jsonOf<{ run: string }>(imported)

      const proxy = yield* holdingProxy(address, 0)
      const child = start(folder, ["contacts", "undo", "last", "--yes", ...on(proxy.address)])
      const end = ended(child)
      yield* proxy.isHeld
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130, stopped.stderr)
      assert.include(reportOf(stopped), { command: "undo", undoes: id, read: 2, done: 0, unknown: 2, notSent: 0 })
      const resume = `roster contacts undo ${id} --yes ${on(proxy.address).join(" ")}`
      const said = failure(stopped)
      assert.deepInclude(said, {
        code: "Interrupted",
        message: "The command was interrupted: 0 of 2 contacts are done, 2 without an answer.",
        resume,
        undo: `roster contacts undo ${said.run} ${on(proxy.address).join(" ")}`
      })

      const resumed = yield* run(["contacts", "undo", id, "--yes", ...on(address)])
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      const left = jsonOf<ReadonlyArray<{ Email: string; FirstName?: string }>>(
        yield* run(["contacts", "list", ...on(address)])
      )
      assert.deepStrictEqual(
        left.map(({ Email, FirstName = "" }) => [Email, FirstName]),
        [["ann@x.org", ""]]
      )
    })
  )

  it.live("ends an interrupted apply with its run, its undo and how it goes on", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, keyFile } = yield* serveWithKey(folder)
      const proxy = yield* holdingProxy(address, 1)
      const on = ["--base-url", proxy.address, "--api-key-file", keyFile]
      const rows = Array.from({ length: 2500 }, (_, row) => `u${row}@x.org`)
      writeFileSync(join(folder, "in.csv"), `Email\n${rows.join("\n")}\n`)
      const planned = yield* run(["contacts", "import", "in.csv", "--plan", "plan.json", ...on])
      assert.strictEqual(planned.code, 0, planned.stderr)
      const child = start(folder, ["contacts", "apply", "plan.json", "-o", "json", ...on])
      const end = ended(child)
      yield* proxy.isHeld
      child.kill("SIGINT")
      const stopped = yield* Effect.promise(() => end)
      assert.strictEqual(stopped.code, 130, stopped.stderr)
      const report = reportOf(stopped)
      assert.include(report, { command: "apply", file: "plan.json", read: 2500 })
      assert.isAbove(report.unknown, 0)
      const said = failure(stopped)
      assert.strictEqual(report.run, said.run)
      assert.deepInclude(said, {
        code: "Interrupted",
        resume: `roster contacts apply plan.json -o json ${on.join(" ")}`,
        undo: `roster contacts undo ${said.run} ${on.join(" ")}`
      })
      assert.match(said.message, /interrupted: [\d,]+ of 2,500 rows are done, /)
      // All of standard error is for programs, since JSON was asked for.
      const notes = stopped.stderr
        .trimEnd()
        .split("\n")
        .slice(0, -1)
        .map((line) => jsonOf<{ note: string }>({ stdout: line }))
      assert.isTrue(
        notes.some(({ note }) => note === `To undo it: ${said.undo}`),
        stopped.stderr
      )
      const [newest] = jsonOf<ReadonlyArray<{ id: string }>>(yield* run(["contacts", "runs", "-o", "json", ...on]))
      assert.strictEqual(newest?.id, said.run)
    })
  )

  it.live("shows no key that was typed by mistake", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const key = "roster_1cm9losicpqnguqvjs7pdv1cc0tc5tyxoip3an0dpk7sw"
      const { env } = yield* fakeService(({ method, url = "" }, response) => {
        const isList = method === "GET" && url.includes("/contacts?")
        const status = isList ? 200 : method === "GET" ? 404 : 401
        response.writeHead(status, { "Content-Type": "application/json" })
        response.end(isList ? "[]" : '{"Error":"no"}')
      })
      writeFileSync(join(folder, "in.csv"), "Email\nann@x.org\n")
      const stopped = yield* run(["contacts", "import", "in.csv", "--api-key-prefix", `${key} `], { env })
      assert.strictEqual(stopped.code, 4, stopped.stderr)
      assert.notInclude(stopped.stderr, key)
      assert.strictEqual(failure(stopped).resume, "roster contacts import in.csv --api-key-prefix '… '")

      writeFileSync(join(folder, "near.csv"), "E-Mail\nann@x.org\n")
      const near = yield* run(["contacts", "import", "near.csv", "--api-key-prefix", `${key} `], { env })
      assert.deepStrictEqual([near.code, failure(near).code], [2, "NearlyFields"])
      assert.notInclude(near.stderr, key)
    })
  )
})
