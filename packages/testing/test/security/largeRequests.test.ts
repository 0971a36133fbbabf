/**
 * Large requests, which a thread of their own answers: they are answered as all others, and what they wait for is
 * bounded by account.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RosterServer } from "@roster/server"
import { Context, Effect, Fiber, FileSystem, Layer, Path, Redacted } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { requestThread } from "../Threads.ts"

const KiB = 1024

/** The file of a thread that notes what it is asked, and waits for a word before it answers. */
const notingEntry = (notes: string, word: string | undefined) => `
  import { appendFileSync, existsSync } from "node:fs"
  import { setTimeout } from "node:timers/promises"
  import { parentPort } from "node:worker_threads"
  const queue = []
  const note = (message) => {
    queue.push(message)
    appendFileSync(${JSON.stringify(notes)}, (message.url ?? message) + (message.ids ? " " + message.ids : "") + "\\n")
  }
  parentPort.on("message", note)
  ${word === undefined ? "" : `while (!existsSync(${JSON.stringify(word)})) await setTimeout(5)`}
  await import(${JSON.stringify(requestThread.href)})
  parentPort.off("message", note)
  for (const message of queue) parentPort.emit("message", message)
  parentPort.on("message", note)`

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: IncomingMessage["headers"]
}

const served = Effect.fnUntraced(function* (options: { readonly waits?: boolean; readonly entry?: string } = {}) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const place = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-large-" })
  const [entry, notes, word, filename] = ["entry.mjs", "notes", "word", "roster.db"].map((name) =>
    path.join(place, name)
  )
  if (entry === undefined || notes === undefined || word === undefined || filename === undefined) return assert.fail()
  writeFileSync(notes, "")
  writeFileSync(entry, options.entry ?? notingEntry(notes, options.waits === true ? word : undefined))
  let key = ""
  const services = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      store: { filename, requestThread: pathToFileURL(entry) },
      onAdministratorKey: (given) => Effect.sync(() => void (key = Redacted.value(given)))
    })
  )
  const { address } = Context.get(services, RosterServer.RosterServer)
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  /** Sends a request, and gives its response without its body. */
  const open = (method: string, path: string, body = "", headers: Readonly<Record<string, string>> = {}) =>
    Effect.callback<IncomingMessage>((resume) => {
      const length = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }
      const all = { "X-Service-ApiKey": key, ...(body === "" ? {} : length), ...headers }
      request(`${address}${path}`, { agent, method, headers: all }, (response) => resume(Effect.succeed(response)))
        .on("error", (error) => resume(Effect.die(error)))
        .end(body)
    })
  const ask = (...given: Parameters<typeof open>) =>
    Effect.flatMap(open(...given), (response) =>
      Effect.promise(async (): Promise<Answer> => {
        const parts: Array<Buffer> = []
        for await (const part of response) parts.push(part)
        const { headers, statusCode: status = 0 } = response
        return { status, text: Buffer.concat(parts).toString(), headers }
      })
    )
  return {
    ask,
    open,
    /** What the thread was asked. */
    asked: () => readFileSync(notes, "utf8").split("\n").slice(0, -1),
    allow: () => writeFileSync(word, ""),
    store: Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(filename, { timeout: 5000 })),
      (store) => Effect.sync(() => store.close())
    )
  }
})

/** Contacts with as many KiB of a custom field. */
const contacts = (count: number, kibibytes: number, sign = "x") =>
  Array.from({ length: count }, (_, index) => ({
    Email: `large${index}@example.com`,
    CustomFields: { note: sign.repeat(kibibytes * KiB) }
  }))

/** As many contacts of which nothing but an address is given. */
const minimal = (count: number) => Array.from({ length: count }, (_, index) => ({ Email: `small${index}@example.com` }))

/** Writes so many contacts of 32,000 characters beside the service. */
const fill = (store: DatabaseSync, count: number) =>
  store.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
    SELECT '', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active',
      json_object('note', hex(zeroblob(16000))), 'ContactApi', 1700000000 FROM n`)

const test = <A, E>(name: string, body: Effect.Effect<A, E, Effect.Services<ReturnType<typeof served>>>) =>
  it.live(name, () => body.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

describe("large requests", () => {
  test(
    "an add of 200 contacts of 31 KiB is carried out by the thread, an ordinary one is not, and both answer alike",
    Effect.gen(function* () {
      const { ask, asked } = yield* served()
      const body = contacts(200, 31)
      const added = yield* ask("POST", "/contacts?listnames=a", JSON.stringify(body))
      assert.strictEqual(added.status, 200, added.text.slice(0, 300))
      const small = yield* ask("POST", "/contacts?listnames=a", JSON.stringify(body.slice(0, 1)))
      assert.deepStrictEqual(asked(), ["/v4/contacts?listnames=a"])
      assert.deepStrictEqual(
        { ...added.headers, date: "", "content-length": "" },
        { ...small.headers, date: "", "content-length": "" }
      )
      const answered: unknown = JSON.parse(added.text)
      assert.deepStrictEqual(
        Array.isArray(answered) ? answered.map(({ CustomFields, Email }) => ({ Email, CustomFields })) : answered,
        body
      )
      const one = yield* ask("GET", "/contacts/large199@example.com")
      assert.deepInclude(JSON.parse(one.text), body[199])
    })
  )

  test(
    "a page is one if its contacts are large, wherever it begins",
    Effect.gen(function* () {
      const { ask, asked, store } = yield* served()
      fill(yield* store, 40)
      const page = yield* ask("GET", "/contacts?limit=100&offset=10")
      assert.strictEqual(page.status, 200)
      const few = yield* ask("GET", "/contacts?limit=16&offset=10")
      const last = yield* ask("GET", "/contacts?limit=100&offset=35")
      const none = yield* ask("GET", "/contacts?limit=100&offset=40")
      assert.strictEqual(none.text, "[]")
      assert.deepStrictEqual(
        asked(),
        [10, 35].map((offset) => `/v4/contacts?limit=100&offset=${offset}`)
      )
      const all: unknown = JSON.parse(page.text)
      assert.deepStrictEqual(Array.isArray(all) ? [all.length, all.slice(0, 16), all.slice(25)] : all, [
        30,
        JSON.parse(few.text),
        JSON.parse(last.text)
      ])
      assert.deepStrictEqual(page.headers["content-type"], few.headers["content-type"])
      const refused = yield* ask("GET", "/contacts?limit=1001")
      assert.strictEqual(refused.status, 400, refused.text)
    })
  )

  test(
    "a page by a rule is one too, with what the rule found before",
    Effect.gen(function* () {
      const { ask, asked, store } = yield* served()
      fill(yield* store, 40)
      assert.strictEqual((yield* ask("POST", "/contacts", '[{"Email":"small@example.com"}]')).status, 200)
      const by = (rule: string, offset = 0) =>
        ask("GET", `/contacts?limit=100&offset=${offset}&rule=${encodeURIComponent(rule)}`)
      const found = yield* by('email starts-with "p"', 37)
      assert.strictEqual(found.status, 200, found.text.slice(0, 300))
      const place = `offset=37&rule=${encodeURIComponent('email starts-with "p"')}`
      assert.deepStrictEqual(asked(), [`/v4/contacts?limit=100&${place} 38,39,40`])
      assert.strictEqual(found.text, (yield* ask("GET", "/contacts?limit=3&offset=37")).text)
      assert.strictEqual(JSON.parse((yield* by("email starts-with 'small'")).text).length, 1)
      assert.strictEqual((yield* by("email = 'nobody@example.com'")).text, "[]")
      assert.strictEqual((yield* by("email =")).status, 400)
      assert.strictEqual(asked().length, 1)
      assert.strictEqual(JSON.parse((yield* by("All")).text).length, 41)
      assert.strictEqual(asked().length, 2)
    })
  )

  test(
    "of adds, deletes or pages that are almost large and arrive together, few go before a small request",
    Effect.gen(function* () {
      const { ask, asked } = yield* served()
      const ordinary = { Email: "ordinary@example.com" }
      for (const [what, method, path, body] of [
        ["adds", "POST", "/contacts", JSON.stringify(minimal(950))],
        ["deletes", "POST", "/contacts/delete", JSON.stringify({ Emails: minimal(1200).map(({ Email }) => Email) })],
        ["pages", "GET", "/contacts?limit=1000", ""]
      ] as const) {
        assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify([...minimal(950), ordinary]))).status, 200)
        let done = 0
        const one = Effect.map(ask(method, path, body), ({ status }) => {
          done++
          return status
        })
        const together = Effect.all(
          Array.from({ length: 48 }, () => one),
          { concurrency: "unbounded" }
        )
        const before = Effect.map(ask("GET", `/contacts/${ordinary.Email}`), ({ status }) => [status, done] as const)
        const [statuses, [status, between]] = yield* Effect.all([together, before], { concurrency: "unbounded" })
        assert.deepStrictEqual(
          statuses,
          statuses.map(() => 200),
          what
        )
        assert.strictEqual(status, 200, what)
        assert.isBelow(between, 16, what)
      }
      assert.deepStrictEqual(asked(), [])
    })
  )

  test(
    "one that is almost large and waits for the lock of the store does not keep the next",
    Effect.gen(function* () {
      const { ask, store } = yield* served()
      const other = yield* store
      other.exec("BEGIN IMMEDIATE")
      const first = ask("POST", "/contacts", JSON.stringify(minimal(100)))
      const waits = yield* Effect.forkChild(first, { startImmediately: true })
      const wrong = yield* ask("POST", "/contacts", JSON.stringify([...minimal(100), { Email: "nobody" }]))
      assert.strictEqual(wrong.status, 400, wrong.text)
      other.exec("ROLLBACK")
      assert.strictEqual((yield* Fiber.join(waits)).status, 200)
    })
  )

  test(
    "are refused as a whole, with the place of what is wrong",
    Effect.gen(function* () {
      const { ask, asked, store } = yield* served()
      const body = contacts(1000, 2)
      const wrong = (email: string) => JSON.stringify([...body.slice(0, 999), { Email: email }])
      const invalid = yield* ask("POST", "/contacts", wrong("nobody"))
      assert.strictEqual(invalid.status, 400)
      assert.match(JSON.parse(invalid.text).Error, /^Invalid \[999\]\.Email: /)
      const twice = yield* ask(
        "POST",
        "/contacts",
        `${JSON.stringify(body).slice(0, -1)},{"Email":"a@a.example","Email":""}]`
      )
      assert.strictEqual(twice.status, 400)
      assert.match(JSON.parse(twice.text).Error, /gives a name twice/)
      const many = yield* ask("POST", "/contacts", JSON.stringify([...body, { Email: "a@a.example" }]))
      assert.strictEqual(many.status, 400)
      assert.strictEqual(asked().length, 3)
      assert.strictEqual((yield* store).prepare("SELECT count(*) AS n FROM contacts").get()?.["n"], 0)
    })
  )

  test(
    "are done once for their Idempotency-Key",
    Effect.gen(function* () {
      const { ask, asked } = yield* served()
      const key = { "Idempotency-Key": "once" }
      const body = JSON.stringify(contacts(100, 31))
      const first = yield* ask("POST", "/contacts", body, key)
      assert.strictEqual(first.status, 200)
      assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify(contacts(100, 31, "y")))).status, 200)
      const again = yield* ask("POST", "/contacts", body, key)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      const other = yield* ask("POST", "/contacts", JSON.stringify(contacts(100, 31, "z")), key)
      assert.strictEqual(other.status, 409)
      assert.strictEqual(asked().length, 4)
    })
  )

  test(
    "have the account and the level of their key",
    Effect.gen(function* () {
      const { ask, asked } = yield* served()
      const made = Effect.fnUntraced(function* (name: string, payload: object) {
        const { status, text } = yield* ask("POST", "/security/apikeys", JSON.stringify({ Name: name, ...payload }))
        assert.strictEqual(status, 201, text)
        return { "X-Service-ApiKey": String(JSON.parse(text).Token) }
      })
      const modifies = { AccessLevel: ["ModifyContacts", "ViewContacts"] }
      const team = yield* made("team", { ...modifies, Subaccount: "team@example.com" })
      const reads = yield* made("reads", { AccessLevel: ["ViewContacts"] })
      const body = JSON.stringify(contacts(100, 31))
      assert.strictEqual((yield* ask("POST", "/contacts", body, reads)).status, 403)
      assert.strictEqual((yield* ask("POST", "/contacts", body, team)).status, 200)
      assert.deepStrictEqual(asked(), ["/v4/contacts"])
      assert.strictEqual((yield* ask("GET", "/contacts?limit=1000", "", reads)).text, "[]")
      assert.strictEqual(JSON.parse((yield* ask("GET", "/contacts?limit=1000", "", team)).text).length, 100)
    })
  )

  test(
    "of an account wait up to 128 at once, while others are answered; further ones are a 503",
    Effect.gen(function* () {
      const { allow, ask, store } = yield* served({ waits: true })
      fill(yield* store, 20)
      const page = ask("GET", "/contacts?limit=1000")
      // One more than one that is carried out and 128 that wait.
      const answers: Array<Answer> = []
      const each = Effect.map(page, (answer) => void answers.push(answer))
      const waiting = yield* Effect.forkScoped(
        Effect.all(
          Array.from({ length: 130 }, () => each),
          { concurrency: 130 }
        )
      )
      const refused = (yield* eventually(Effect.succeed(answers), ({ length }) => length > 0))[0] ?? assert.fail()
      assert.strictEqual(refused.status, 503)
      assert.match(refused.text, /128 large requests of this account wait for their turn/)
      assert.strictEqual(refused.headers["retry-after"], "1")
      assert.strictEqual((yield* ask("GET", "/contacts/p1@example.com")).status, 200)
      assert.strictEqual((yield* ask("POST", "/contacts", '[{"Email":"a@example.com"}]')).status, 200)
      allow()
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(
        answers.slice(1).map(({ status }) => status),
        Array.from({ length: 129 }, () => 200)
      )
      assert.strictEqual((yield* page).status, 200)
    })
  )

  test(
    "of an account are a 503 while it leaves 32 MiB of responses unread, and go on when it has read them",
    Effect.gen(function* () {
      const { ask, open, store } = yield* served()
      fill(yield* store, 1000)
      const path = "/contacts?limit=1000"
      const unread = [yield* open("GET", path), yield* open("GET", path)]
      const refused = yield* ask("GET", path)
      assert.strictEqual(refused.status, 503)
      assert.match(refused.text, /This account has 32 MiB of responses to read/)
      for (const response of unread) response.destroy()
      const answered = yield* Effect.repeat(ask("GET", path), { until: ({ status }) => status !== 503 })
      assert.strictEqual(answered.status, 200)
      assert.strictEqual(JSON.parse(answered.text).length, 1000)
    })
  )

  test(
    "that end the thread are a 500, and the next one starts it again",
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const marker = `${yield* fileSystem.makeTempDirectoryScoped()}/marker`
      const { ask, store } = yield* served({
        entry: `
          import { existsSync, writeFileSync } from "node:fs"
          import { parentPort } from "node:worker_threads"
          if (existsSync(${JSON.stringify(marker)})) await import(${JSON.stringify(requestThread.href)})
          else parentPort.on("message", () => { writeFileSync(${JSON.stringify(marker)}, ""); process.exit(1) })`
      })
      fill(yield* store, 20)
      const failed = yield* ask("GET", "/contacts?limit=1000")
      assert.strictEqual(failed.status, 500)
      assert.match(failed.text, /^{"Error":"An internal error\. /)
      assert.strictEqual((yield* ask("GET", "/contacts?limit=1000")).status, 200)
    })
  )
})
