import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { makeLocalRosterHere, makeRosterHere } from "../inProcess.ts"
import { failure, json, jsonOf } from "../roster.ts"
import { serveWithKey } from "../service.ts"

interface Row {
  readonly Name: string
  readonly Finding: string
  readonly What: string
}

const of = (rows: ReadonlyArray<Row>, name: string) =>
  rows.filter(({ Name }) => Name === name).map(({ Finding }) => Finding)

describe("roster apikeys audit", () => {
  it.live("finds excessive levels and levels that were never used, on a service and on a store", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const created = yield* run(["apikeys", "create", "reader", "--for", "contacts:read,export"], { env })
      const reader = { ROSTER_BASE_URL: address, ROSTER_API_KEY: jsonOf<{ Token: string }>(created).Token }
      assert.strictEqual((yield* run(["contacts", "list"], { env: reader })).code, 0)
      const narrow = ["--for", "export", "--ip-range", "192.0.2.0/24", "--expires", "20d"]
      yield* run(["apikeys", "create", "narrow", ...narrow], { env })

      const remote = yield* run(["apikeys", "audit"], { env })
      assert.strictEqual(remote.code, 0, remote.stderr)
      const rows = jsonOf<ReadonlyArray<Row>>(remote)
      assert.deepStrictEqual(of(rows, "reader"), ["UnusedLevels", "UsableFromEverywhere"])
      // A key of today need not have been used, and 20 days are not its end.
      assert.deepStrictEqual(of(rows, "narrow"), [])
      assert.include(of(rows, "administrator"), "ManagesKeys")

      const local = jsonOf<ReadonlyArray<Row>>(yield* run(["apikeys", "audit", "--db", join(folder, "served.db")]))
      assert.deepStrictEqual(of(local, "reader"), ["UnusedLevels", "UsableFromEverywhere"])
      assert.include(local.find(({ Finding, Name }) => Name === "reader" && Finding === "UnusedLevels")?.What, "Export")

      const failing = yield* run(["apikeys", "audit", "--fail-on-findings"], { env })
      assert.deepStrictEqual([failing.code, failure(failing).code], [9, "PartlyDone"])
      assert.include(failure(failing).hint, "advice")
      assert.deepStrictEqual(json(failing), rows)
      const later = yield* run(["apikeys", "audit", "--expiring", "25d", "-o", "table"], { env })
      assert.match(later.stdout, /^Name +Finding +What +Advice\n[^]*\nnarrow +Expiring/)
      const soon = yield* run(["apikeys", "audit", "--expiring", "5d"], { env })
      assert.notInclude(soon.stdout, "Expiring")
    })
  )

  it.live("succeeds without findings, with every flag", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      yield* run(["contacts", "add", "ann@example.com"])
      const none = yield* run(["apikeys", "audit", "--fail-on-findings"])
      assert.deepStrictEqual([none.code, none.stdout], [0, "[]\n"])
    })
  )
})

describe("roster audit list", () => {
  it.live("prints what was done with credentials, and no name controls the terminal", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const name = "ci\u202egnp"
      yield* run(["apikeys", "create", name, "--for", "export"])
      yield* run(["apikeys", "delete", name, "--yes"])
      yield* run(["smtp", "create", "shop@example.com", "--subaccount", "Team@example.com"])
      const all = yield* run(["audit", "list"])
      const entries = jsonOf<ReadonlyArray<{ operation: string; subject: string; account: string }>>(all)
      assert.deepStrictEqual(
        entries.map(({ operation, subject }) => [operation, subject]),
        [
          ["securitySmtpPost", "shop@example.com"],
          ["securityApikeysByNameDelete", name],
          ["securityApikeysPost", name]
        ]
      )
      const table = yield* run(["audit", "list", "-o", "table", "--since", "1h"])
      assert.notInclude(all.stdout + table.stdout, "\u202e")
      assert.match(table.stdout, /^When \(UTC\) +Who +From +Account +What\n/)
      assert.match(table.stdout, /\d\d:\d\d:\d\d +the owner of the store +.*deleted the key ci\ufffdgnp/)
      assert.include(table.stdout, "created the SMTP credentials shop@example.com")
      const [first, ...others] = jsonOf<typeof entries>(yield* run(["audit", "list", "--limit", "1"]))
      assert.deepStrictEqual<unknown>([first, others], [entries[0], []])
      const ofTeam = jsonOf<typeof entries>(yield* run(["audit", "list", "--subaccount", "team@EXAMPLE.com"]))
      assert.deepStrictEqual<unknown>(ofTeam, [entries[0]])
      assert.deepStrictEqual(json(yield* run(["audit", "list", "--since", "2090-01-01"])), [])
      assert.strictEqual((yield* run(["audit", "list", "--since", "yesterday"])).code, 2)
    })
  )

  it.live("is read on a service with a key of the level Security, and of one key by its name", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const created = yield* run(["apikeys", "create", "reader", "--for", "contacts:read"], { env })
      const reader = { ROSTER_BASE_URL: address, ROSTER_API_KEY: jsonOf<{ Token: string }>(created).Token }
      const refused = yield* run(["audit", "list"], { env: reader })
      assert.deepStrictEqual([refused.code, failure(refused).code], [4, "AccessDenied"])
      const entries = jsonOf<ReadonlyArray<{ operation: string; subject: string }>>(
        yield* run(["audit", "list", "--key", "administrator"], { env })
      )
      assert.deepStrictEqual(
        entries.map(({ operation, subject }) => [operation, subject]),
        [["securityApikeysPost", "reader"]]
      )
      const status = yield* run(["status", "-o", "table"], { env: reader })
      assert.match(status.stdout, /named +reader, without an end\nmay +ViewContacts\n/)
    })
  )
})

describe("least privilege", () => {
  it.live("gives a key the levels that its purposes need, and those that are named beside them", () =>
    Effect.gen(function* () {
      const { run } = yield* makeLocalRosterHere
      const levels = (args: ReadonlyArray<string>) =>
        Effect.map(
          run(["apikeys", ...args]),
          (result) => jsonOf<{ AccessLevel: ReadonlyArray<string> }>(result).AccessLevel
        )
      assert.sameMembers(
        [...(yield* levels(["create", "a", "--for", "contacts:read,export"]))],
        ["ViewContacts", "Export"]
      )
      assert.sameMembers(
        [
          ...(yield* levels([
            "create",
            "b",
            "--for",
            "smtp:write",
            "--for",
            "smtp:read",
            "--access",
            "Security,ViewFiles"
          ]))
        ],
        ["ModifyAccessTokens", "Security", "ViewFiles"]
      )
      assert.deepStrictEqual(yield* levels(["update", "b", "--for", "emails:send"]), ["SendHttp"])
      assert.deepStrictEqual(yield* levels(["update", "b", "--rename", "c"]), ["SendHttp"])

      const unknown = yield* run(["apikeys", "create", "d", "--for", "contcts:read"])
      assert.strictEqual(unknown.code, 2)
      assert.match(failure(unknown).message, /did you mean "contacts:read"\?.*apikeys:write.*emails:send/)
      assert.strictEqual((yield* run(["apikeys", "create", "d"])).code, 2)
    })
  )

  it.live("names the missing level if a key is refused, and how to create a key with it", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* makeRosterHere
      const { address, env } = yield* serveWithKey(folder)
      const created = yield* run(["apikeys", "create", "reader", "--for", "contacts:read"], { env })
      const reader = { ROSTER_BASE_URL: address, ROSTER_API_KEY: jsonOf<{ Token: string }>(created).Token }
      const refused = yield* run(["contacts", "export"], { env: reader })
      assert.deepStrictEqual([refused.code, failure(refused).code], [4, "AccessDenied"])
      assert.include(failure(refused).hint, "Export")
      assert.include(failure(refused).hint, "--for contacts:export")
      const making = yield* run(["apikeys", "create", "x", "--for", "smtp:write"], { env: reader })
      assert.include(failure(making).hint, "--for apikeys:write")
    })
  )
})
