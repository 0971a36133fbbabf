/**
 * Files that are written to while they are imported: what is sent is what was checked, or the import ends and says so.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { makeRosterHere } from "../inProcess.ts"
import { failure } from "../roster.ts"
import { fakeService, noContacts, serveWithKey } from "../service.ts"

const note = "x".repeat(2000)
const email = (row: number, domain = "example.com") => `r${String(row).padStart(6, "0")}@${domain}`

/** Far more than the sockets and pipes between a file and a service hold. */
const rows = 12_000
const contentOf = (domain?: string, count = rows) =>
  `Email,Note\n${Array.from({ length: count }, (_, row) => `${email(row, domain)},${note}\n`).join("")}`

/** What happens to the file when the service has read the beginning of it. */
const changes: ReadonlyArray<readonly [how: string, change: (path: string) => void]> = [
  ["gets shorter, in the middle of a row", (path) => truncateSync(path, Math.floor(statSync(path).size * 0.9) - 7)],
  [
    "gets shorter, at the end of a row",
    (path) => truncateSync(path, statSync(path).size - email(0).length - note.length - 2)
  ],
  ["gets longer", (path) => appendFileSync(path, `${email(rows)},late\n`)],
  ["gets longer without an end", (path) => appendFileSync(path, "z".repeat(4_000_000))],
  ["is written anew, just as long", (path) => writeFileSync(path, contentOf("example.net"))],
  ["is emptied", (path) => truncateSync(path, 0)]
]

interface Upload {
  readonly bytes: number
  readonly tail: string
  readonly complete: boolean
}

/** A service that stops reading an upload near its beginning until something was done, and keeps a book of uploads. */
const slowService = Effect.fnUntraced(function* (options: {
  readonly meanwhile: (upload: number) => void
  readonly status?: (upload: number) => number
}) {
  const uploads: Array<Upload> = []
  const underWay: Array<Promise<void>> = []
  let begun = 0
  const { env } = yield* fakeService((request: IncomingMessage, response: ServerResponse) => {
    // It records no runs.
    if (request.method === "GET") return void response.writeHead(404).end()
    const number = begun++
    let bytes = 0
    let tail = ""
    let isHeld = false
    const book = (complete: boolean) => uploads.push({ bytes, tail, complete })
    request.on("data", (part: Buffer) => {
      bytes += part.length
      tail = (tail + part.toString("latin1")).slice(-200)
      // The file itself is being read by then.
      if (isHeld || bytes < 1_000_000) return
      isHeld = true
      request.pause()
      options.meanwhile(number)
      setImmediate(() => request.resume())
    })
    underWay.push(new Promise<void>((resolve) => request.on("close", resolve)))
    request.on("error", () => {})
    request.on("close", () => request.complete || book(false))
    request.on("end", () => {
      book(true)
      const status = options.status?.(number) ?? 202
      response.writeHead(status, { "Content-Type": "application/json", "Retry-After": "1" })
      response.end(status === 202 ? "" : '{"Error":"slow down"}')
    })
  })
  /** The book, once every upload that began is over: this side notices a broken connection a little later. */
  const closed = Effect.promise(() => Promise.all(underWay)).pipe(Effect.as(uploads))
  return { env, closed }
})

const handOver = ["contacts", "import", "big.csv", "--via", "file"]

describe("roster contacts import of a file that changes", () => {
  it.live.each(changes)("--via file ends, and the request with it, where the file %s", ([, change]) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const path = join(folder, "big.csv")
      writeFileSync(path, contentOf())
      const { closed, env } = yield* slowService({ meanwhile: () => change(path) })
      const ended = yield* run(handOver, { env })
      assert.strictEqual(ended.code, 2, ended.stderr)
      assert.match(failure(ended).message, /^big\.csv changed while it was being sent/)
      const uploads = yield* closed
      assert.deepStrictEqual(
        uploads.map(({ complete }) => complete),
        [false]
      )
      assert.notMatch(uploads[0]?.tail ?? "", /--roster-[-\w]+--/)
    })
  )

  it.live.each([
    ["is written anew, just as long", changes[4]?.[1], /^big\.csv changed while it was being sent/],
    ["is gone", (path: string) => rmSync(path), /^big\.csv cannot be read: no such file/]
  ] as const)("--via file does not send it a second time where it %s between two attempts", ([, change, says]) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const path = join(folder, "big.csv")
      writeFileSync(path, contentOf())
      const { closed, env } = yield* slowService({
        meanwhile: () => {},
        status: (upload) => {
          if (upload === 0) change?.(path)
          return upload === 0 ? 429 : 202
        }
      })
      const ended = yield* run(handOver, { env })
      assert.strictEqual(ended.code, 2, ended.stderr)
      assert.match(failure(ended).message, says)
      const [first, ...second] = yield* closed
      assert.isTrue(first?.complete)
      assert.isTrue(second.every(({ complete }) => !complete))
    })
  )

  it.live("--via file sends a replaced file as it was checked", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const path = join(folder, "big.csv")
      writeFileSync(path, contentOf())
      writeFileSync(join(folder, "other.csv"), contentOf("example.net"))
      const { closed, env } = yield* slowService({ meanwhile: () => renameSync(join(folder, "other.csv"), path) })
      const ended = yield* run(handOver, { env })
      assert.strictEqual(ended.code, 0, ended.stderr)
      const uploads = yield* closed
      assert.deepStrictEqual(
        uploads.map(({ complete }) => complete),
        [true]
      )
    })
  )

  it.live("--via file sends a whole file, to a service as to the store at hand", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      writeFileSync(join(folder, "big.csv"), contentOf(undefined, 3000))
      const { env } = yield* serveWithKey(folder)
      const served = yield* run(handOver, { env })
      assert.strictEqual(served.code, 0, served.stderr)
      const local = yield* run([...handOver, "--db", join(folder, "local.db")])
      assert.strictEqual(local.code, 0, local.stderr)
    })
  )

  it.live.each([
    ["with a record", [], "roster contacts import big.csv --concurrency 1"],
    ["without one", ["--no-record"], undefined]
  ] as const)("%s sends no row that is cut off where the file gets shorter, and names a way on", ([, flags, resume]) =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const path = join(folder, "big.csv")
      // More than it reads ahead of the part that is answered.
      const count = 4000
      writeFileSync(path, contentOf(undefined, count))
      const sent = new Set<string>()
      let isCut = false
      const { env } = yield* fakeService((request, response) => {
        if (request.method === "GET") return noContacts(request, response)
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          if (!isCut) truncateSync(path, Math.floor(statSync(path).size * 0.9) - 7)
          isCut = true
          const body = Buffer.concat(parts).toString()
          const contacts: ReadonlyArray<{ Email: string; CustomFields: { Note: string } }> = JSON.parse(body)
          for (const { CustomFields, Email } of contacts) sent.add(`${Email} ${CustomFields.Note.length}`)
          response.writeHead(200, { "Content-Type": "application/json" })
          response.end(body)
        })
      })
      const command = ["contacts", "import", "big.csv", "--concurrency", "1", ...flags]
      const ended = yield* run(command, { env })
      assert.strictEqual(ended.code, 9, ended.stderr)
      const { code, hint, message, resume: named } = failure(ended)
      assert.strictEqual(code, "PartlyDone")
      assert.match(message, /^big\.csv changed while it was being sent/)
      assert.match(hint, /^Run the import again/)
      assert.strictEqual(named, resume)
      const known = new Set(Array.from({ length: count }, (_, row) => `${email(row)} ${note.length}`))
      assert.deepStrictEqual(
        [...sent].filter((contact) => !known.has(contact)),
        []
      )
      assert.isBelow(sent.size, count)
      // Another file is another import.
      const anew = yield* run(resume?.split(" ").slice(1) ?? command, { env })
      assert.strictEqual(anew.code, 0, anew.stderr)
    })
  )
})
