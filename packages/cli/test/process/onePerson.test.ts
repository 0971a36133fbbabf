/** One person who is added or changed by address: asked about where they left, and a run that can be undone. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf, makeLocalRoster, type Roster } from "../roster.ts"
import { fakeService, serveWithKey } from "../service.ts"

const ann = "ann@example.com"
const add = (...flags: ReadonlyArray<string>) => ["contacts", "add", ann, ...flags]

const statusOf = ({ run }: Roster) =>
  Effect.map(run(["contacts", "get", ann]), (ended) =>
    ended.code === 5 ? undefined : jsonOf<{ readonly Status: string }>(ended).Status
  )

/** A roster whose commands reach a service. */
const reaching = ({ folder, run }: Roster, env: Readonly<Record<string, string>>): Roster => ({
  folder,
  run: (args, options) => run(args, { ...options, env: { ...env, ...options?.env } })
})

const undo = ["contacts", "undo", "last", "--yes"]

/** What holds on a local store and at a service alike. */
const asksAndUndoes = Effect.fnUntraced(function* (roster: Roster) {
  const { run } = roster
  const added = yield* run(add("--first-name", "Ann", "--list", "News"))
  assert.strictEqual(added.code, 0, added.stderr)
  assert.match(added.stderr, /To undo it: roster contacts undo \S+/)
  assert.include(json(added), { Email: ann, Status: "Active", FirstName: "Ann", Source: "ContactApi" })
  assert.strictEqual((yield* run(undo)).code, 0)
  assert.isUndefined(yield* statusOf(roster))

  yield* run(add("--status", "Unsubscribed", "--field", "city=Rom"))
  for (const words of [[], ["-o", "table"]]) {
    const declined = yield* run(add("--status", "Active", "--field", "city=Ulm", ...words))
    assert.deepStrictEqual([declined.code, declined.stdout], [3, ""])
    assert.include(declined.stderr, `Nothing was done. ${ann} is Unsubscribed and gets no mail.`)
    assert.include(declined.stderr, "They asked for mail again? If so, run it with --resubscribe.")
  }
  const stayed = json(yield* run(["contacts", "get", ann]))
  assert.deepInclude(stayed, { Status: "Unsubscribed", CustomFields: { city: "Rom" } })
  const lifted = yield* run(add("--status", "Active", "--resubscribe"))
  assert.strictEqual(lifted.code, 0, lifted.stderr)
  assert.strictEqual(yield* statusOf(roster), "Active")
  assert.strictEqual((yield* run(undo)).code, 0)
  assert.strictEqual(yield* statusOf(roster), "Unsubscribed")

  // A stricter one is not asked about, nor is NotConfirmed, of one person.
  assert.strictEqual((yield* run(add("--status", "Abuse"))).code, 0)
  assert.strictEqual((yield* run(add("--status", "Active", "--resubscribe"))).code, 3)
  const named = yield* run(add("--status", "Active", "--resubscribe=Abuse"))
  assert.strictEqual(named.code, 0, named.stderr)
  assert.strictEqual((yield* run(add("--status", "NotConfirmed"))).code, 0)
  const confirmed = yield* run(add("--status", "Active"))
  assert.deepStrictEqual([confirmed.code, failure(confirmed).hint.split("?")[0]], [3, "They have confirmed"])
  assert.strictEqual((yield* run(undo)).code, 0)
  assert.strictEqual(yield* statusOf(roster), "Active")

  // Whom others changed since stays, and gets no mail that only the run gave them.
  yield* run(["contacts", "delete", ann, "--yes"])
  yield* run(add())
  const id = jsonOf<ReadonlyArray<{ readonly id: string }>>(yield* run(["contacts", "runs"]))[0]?.id ?? ""
  yield* run(add("--first-name", "Eve"))
  assert.strictEqual((yield* run(["contacts", "undo", id, "--yes"])).code, 9)
  assert.strictEqual(yield* statusOf(roster), "NotConfirmed")
  const runs = jsonOf<ReadonlyArray<{ readonly command: string; readonly state: string; readonly about?: string }>>(
    yield* run(["contacts", "runs"])
  )
  // What a run is of outlives the person.
  const { about, state } = runs.find(({ command }) => command === "add") ?? {}
  assert.deepStrictEqual([about, state], [undefined, "Finished"])
})

describe("roster contacts add", () => {
  it.live("asks about somebody who left, as the file that is published, and can be undone", () =>
    Effect.flatMap(makeLocalRoster, asksAndUndoes)
  )

  it.live("asks over HTTP alike, and a key that may not read is told what was kept", () =>
    Effect.gen(function* () {
      const here = yield* makeRosterHere
      const { env } = yield* serveWithKey(here.folder)
      const roster = reaching(here, env)
      yield* asksAndUndoes(roster)

      const made = yield* roster.run([
        "apikeys",
        "create",
        "writer",
        "--access",
        "ModifyContacts",
        "--out",
        "writer.key"
      ])
      assert.strictEqual(made.code, 0, made.stderr)
      const key = readFileSync(join(here.folder, "writer.key"), "utf8").trim()
      const writer = reaching(here, { ...env, ROSTER_API_KEY: key })
      yield* roster.run(add("--status", "Unsubscribed"))
      const kept = yield* writer.run(add("--status", "Active", "--first-name", "Eve"))
      assert.deepStrictEqual([kept.code, failure(kept).code], [9, "PartlyDone"])
      assert.include(json(kept), { Status: "Unsubscribed", FirstName: "Eve" })
      assert.include(failure(kept).message, `${ann} stays Unsubscribed, since this key may not view contacts`)
      assert.include(failure(kept).hint, "--resubscribe")
      assert.include(kept.stderr, "To undo it: ")
      assert.include(json(yield* roster.run(["contacts", "get", ann])), { Status: "Unsubscribed", FirstName: "Eve" })
      const words = yield* writer.run(add("--status", "Active", "-o", "table"))
      assert.deepStrictEqual([words.code, /Status +Unsubscribed/.test(words.stdout)], [9, true])
      const unknown = yield* writer.run(add("--first-name", "Eve"))
      assert.deepStrictEqual(
        [unknown.code, unknown.stderr.includes("Its status is unknown")],
        [0, true],
        unknown.stderr
      )
      const lifted = yield* writer.run(add("--status", "Active", "--resubscribe"))
      assert.strictEqual(lifted.code, 0, lifted.stderr)
      assert.strictEqual(yield* statusOf(roster), "Active")
      // A key that may not write does nothing, and no run says so.
      yield* roster.run(["apikeys", "create", "reader", "--access", "ViewContacts", "--out", "reader.key"])
      const reader = { ...env, ROSTER_API_KEY: readFileSync(join(here.folder, "reader.key"), "utf8").trim() }
      const denied = yield* here.run(add("--status", "Bounced"), { env: reader })
      assert.deepStrictEqual([denied.code, failure(denied).code], [4, "AccessDenied"])
      assert.notInclude(denied.stderr, "To undo it")
    })
  )

  it.live("asks at a service of others too, which is read before, and adds what it could before", () =>
    Effect.gen(function* () {
      const here = yield* makeRosterHere
      interface Stored {
        readonly Email: string
        readonly Status?: string
      }
      const stored = new Map<string, Stored>()
      const posts: Array<string> = []
      const { env } = yield* fakeService((request, response) => {
        const answer = (status: number, body: unknown) =>
          response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body))
        const { pathname } = new URL(request.url ?? "", "http://localhost")
        const email = decodeURIComponent(pathname.split("/").at(-1) ?? "")
        if (request.method === "GET" && email === "contacts") return void answer(200, [...stored.values()])
        if (request.method === "GET") {
          const one = stored.get(email)
          return void (one === undefined ? answer(404, { Error: "There is no such contact." }) : answer(200, one))
        }
        if (request.method === "DELETE") return void answer(stored.delete(email) ? 200 : 404, {})
        let body = ""
        request.on("data", (part: Buffer) => (body += part.toString()))
        request.on("end", () => {
          posts.push(`${request.url} ${body}`)
          const contacts: ReadonlyArray<Stored> = JSON.parse(body)
          for (const one of contacts) stored.set(one.Email, { Status: "Active", ...stored.get(one.Email), ...one })
          answer(
            200,
            contacts.map((one) => stored.get(one.Email))
          )
        })
      })
      const roster = reaching(here, env)
      const { run } = roster
      const added = yield* run(add("--first-name", "Ann", "--list", "News", "--field", "city=Rom"))
      assert.strictEqual(added.code, 0, added.stderr)
      assert.deepStrictEqual(posts, [
        `/v4/contacts?listnames=News [{"Email":"${ann}","FirstName":"Ann","CustomFields":{"city":"Rom"}}]`
      ])
      yield* run(add("--status", "Unsubscribed"))
      const declined = yield* run(add("--status", "Active"))
      assert.deepStrictEqual([declined.code, posts.length], [3, 2])
      assert.include(failure(declined).message, `${ann} is Unsubscribed and gets no mail.`)
      const lifted = yield* run(add("--status", "Active", "--resubscribe"))
      assert.strictEqual(lifted.code, 0, lifted.stderr)
      assert.strictEqual(yield* statusOf(roster), "Active")
      stored.clear()
      yield* run(add())
      assert.strictEqual((yield* run(undo)).code, 0)
      assert.strictEqual(stored.size, 0)
    })
  )

  it.live("lowers nobody's status at a service of others with a key that may not read", () =>
    Effect.gen(function* () {
      const here = yield* makeRosterHere
      const posts: Array<string> = []
      const { env } = yield* fakeService((request, response) => {
        const answer = (status: number, body: unknown) =>
          response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body))
        if (request.method === "GET") return void answer(403, { Error: "Access Denied." })
        let body = ""
        request.on("data", (part: Buffer) => (body += part.toString()))
        request.on("end", () => {
          posts.push(body)
          answer(200, JSON.parse(body))
        })
      })
      const { run } = reaching(here, env)
      const refused = yield* run(add("--status", "Active"))
      assert.deepStrictEqual([refused.code, failure(refused).code, posts], [4, "AccessDenied", []])
      // What lowers nobody's is sent unread, and so is each status once the whole ladder is lifted.
      const everything = "--resubscribe=Abuse,Unsubscribed,Bounced,NotConfirmed"
      for (const flags of [
        ["--first-name", "Ann"],
        ["--status", "Unsubscribed"],
        ["--status", "Active", everything]
      ]) {
        const added = yield* run(add(...flags))
        assert.strictEqual(added.code, 0, added.stderr)
        assert.include(added.stderr, "so that it cannot be undone")
      }
      assert.deepStrictEqual(
        posts.map((body) => JSON.parse(body)[0].Status),
        [undefined, "Unsubscribed", "Active"]
      )
    })
  )

  it.live("refuses --resubscribe without a status, wrong names of it, and what no service takes", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      for (const [flags, code] of [
        [["--resubscribe"], 2],
        [["--status", "Active", "--resubscribe=Stale"], 2],
        [["--list", " "], 7]
      ] as const) {
        assert.strictEqual((yield* run(add(...flags))).code, code, flags.join(" "))
      }
      assert.deepStrictEqual(json(yield* run(["contacts", "list"])), [])
    })
  )
})
