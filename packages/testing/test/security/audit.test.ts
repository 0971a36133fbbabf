/**
 * The record of what was done with credentials and what was refused, read past the service, from the file.
 */
import { assert, layer } from "@effect/vitest"
import { SqlAccountService, Store } from "@roster/server"
import { AccountService, auditEntries, AuditEntry, auditLine, EmailAddress } from "@roster/domain"
import { DateTime, Effect, Layer, Schema, Stream } from "effect"
import { writeTo } from "../durability/StoreLook.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, Wire } from "../wire/Wire.ts"
import { makeKey, unknownKey } from "./Access.ts"

/** The file of the service, as the tools that look at files from outside know it. */
const place = Effect.map(Wire, ({ served }) => ({
  folder: "",
  keyFile: served.keyFile,
  temporary: "",
  filename: served.filename
}))

const Asked = Schema.fromJsonString(Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String }))

const withAudit = <A, E>(use: Effect.Effect<A, E, AccountService>) =>
  Effect.gen(function* () {
    const { served } = yield* Wire
    const record = SqlAccountService.layer.pipe(Layer.provide(Store.layer({ filename: served.filename })))
    return yield* Effect.provide(use, record)
  })

/** The levels that each key was used for, with their last use. */
const usesOf = (subaccount?: EmailAddress) =>
  Effect.map(
    withAudit(Effect.flatMap(AccountService, ({ keyUses }) => keyUses({ subaccount }))),
    (uses) =>
      new Map(uses.map(({ levels, name }) => [name, new Map(levels.map(({ lastUse, level }) => [level, lastUse]))]))
  )

/** The entries since one, the oldest first, once there are so many: refusals are written within a second. */
const entriesSince = (number: number, atLeast = 0) =>
  eventually(
    Effect.map(withAudit(Stream.runCollect(auditEntries())), (entries) =>
      entries.filter((entry) => entry.number > number).toReversed()
    ),
    ({ length }) => length >= atLeast
  )

const newest = withAudit(Stream.runCollect(auditEntries({ limit: 1 }))).pipe(
  Effect.map((entries) => entries[0]?.number ?? 0)
)

const summary = ({ account, actor, operation, outcome, subject }: AuditEntry) => [
  account,
  actor._tag === "Key" ? actor.name : actor._tag,
  operation,
  subject,
  outcome
]

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("audit", (it) => {
  it.effect(
    "S15 each change of a credential and each refusal is one entry that says who, what and why; reading is none",
    () =>
      Effect.gen(function* () {
        const [first] = yield* entriesSince(0)
        assert.deepStrictEqual(first === undefined ? [] : summary(first), [
          "",
          "Owner",
          "securityApikeysPost",
          "administrator",
          "Done"
        ])
        const before = yield* newest
        const AccessLevel = ["ModifyAccessTokens", "Export"] as const
        const key = yield* makeKey({ Name: "weak", AccessLevel })
        const rename = { Name: "weaker", AccessLevel: [...AccessLevel, "Security"], Expires: "2099-01-01T00:00:00Z" }
        succeeded(yield* askJson("PUT", "/security/apikeys/weak", rename))
        succeeded(yield* ask("GET", "/security/apikeys"))
        refusedWith(yield* ask("GET", "/security/apikeys/none"), 404)
        refusedWith(yield* askJson("POST", "/security/apikeys", { Name: "weaker", AccessLevel: [] }), 409)
        refusedWith(yield* ask("DELETE", "/security/apikeys/none?subaccount=Sub%40example.com"), 404)
        const greedy = { Name: "greedy", AccessLevel: ["ViewContacts"] }
        refusedWith(yield* askJson("POST", "/security/apikeys", greedy, { key }), 403)
        refusedWith(yield* askJson("POST", "/security/apikeys", { Name: "long", AccessLevel }, { key }), 403)
        refusedWith(yield* askJson("POST", "/security/apikeys", { Name: 7 }), 400)
        refusedWith(yield* ask("POST", "/security/apikeys", { body: "x" }), 415)
        refusedWith(yield* ask("GET", "/contacts", { key }), 403)
        refusedWith(yield* ask("GET", "/contacts", { key: unknownKey(1) }), 401)
        refusedWith(yield* ask("GET", "/nope", { key: unknownKey(1) }), 401)
        refusedWith(yield* ask("GET", "/nope"), 404)
        const lost = "?subaccount=sub%40example.com"
        refusedWith(yield* askJson("POST", `/security/smtp${lost}`, { Name: "login@example.com" }), 400)
        refusedWith(yield* askJson("PUT", `/security/apikeys/weaker${lost}`, rename), 400)
        refusedWith(yield* ask("DELETE", "/security/apikeys/weaker?of=sub%40example.com"), 400)
        refusedWith(yield* askJson("DELETE", "/security/apikeys/weaker", { Subaccount: "sub@example.com" }), 400)
        succeeded(yield* askJson("POST", "/security/smtp", { Name: "login@example.com" }), 201)
        succeeded(yield* askJson("PUT", "/security/smtp/login@example.com", { Name: "login@example.com" }))
        succeededEmpty(yield* ask("DELETE", "/security/smtp/login@example.com"))
        succeededEmpty(yield* ask("DELETE", "/security/apikeys/weaker"))
        refusedWith(yield* ask("DELETE", "/security/apikeys/administrator"), 409)
        const entries = yield* entriesSince(before, 20)
        const [administrator, weaker] = ["administrator", "weaker"]
        const isDone = ({ outcome }: AuditEntry) => outcome === "Done"
        assert.deepStrictEqual(
          [...entries.filter(isDone), ...entries.filter((entry) => !isDone(entry))].map((entry) => [
            ...summary(entry),
            entry.details
          ]),
          [
            ["", administrator, "securityApikeysPost", "weak", "Done", { levelsAdded: AccessLevel }],
            [
              "",
              administrator,
              "securityApikeysByNamePut",
              "weak",
              "Done",
              { changed: ["Name", "AccessLevel", "Expires"], levelsAdded: ["Security"], renamedTo: "weaker" }
            ],
            ["", administrator, "securitySmtpPost", "login@example.com", "Done", { levelsAdded: ["SendSmtp"] }],
            ["", administrator, "securitySmtpByNamePut", "login@example.com", "Done", { changed: [] }],
            [
              "",
              administrator,
              "securitySmtpByNameDelete",
              "login@example.com",
              "Done",
              { levelsRemoved: ["SendSmtp"] }
            ],
            [
              "",
              administrator,
              "securityApikeysByNameDelete",
              "weaker",
              "Done",
              { levelsRemoved: [...AccessLevel, "Security"] }
            ],
            ["", administrator, "securityApikeysPost", "weaker", "NameTaken", {}],
            ["sub@example.com", administrator, "securityApikeysByNameDelete", "none", "CredentialNotFound", {}],
            ["", weaker, "securityApikeysPost", "greedy", "AccessDenied", { required: "ViewContacts" }],
            ["", weaker, "securityApikeysPost", "long", "ExceedsGrantor", { field: "Expires" }],
            ["", administrator, "securityApikeysPost", null, "InvalidInput", {}],
            ["", administrator, "securityApikeysPost", null, "InvalidInput", {}],
            ["", weaker, "contactsGet", null, "AccessDenied", { required: "ViewContacts" }],
            ["", "Unknown", "contactsGet", null, "Unauthorized", {}],
            ["", "Unknown", "noOperation", null, "Unauthorized", {}],
            ["", administrator, "securitySmtpPost", null, "InvalidInput", {}],
            ["", administrator, "securityApikeysByNamePut", null, "InvalidInput", {}],
            ["", administrator, "securityApikeysByNameDelete", null, "InvalidInput", {}],
            ["", administrator, "securityApikeysByNameDelete", null, "InvalidInput", {}],
            ["", administrator, "securityApikeysByNameDelete", "administrator", "LastManagingKey", {}]
          ]
        )
        assert.deepStrictEqual([...new Set(entries.map(({ peer }) => peer))], ["127.0.0.1"])
        const ofSub = yield* withAudit(Stream.runCollect(auditEntries({ subaccount: "sub@example.com" })))
        assert.deepStrictEqual(
          ofSub.map(({ outcome }) => outcome),
          ["CredentialNotFound"]
        )
      })
  )

  it.effect("S15 a change and its entry are one: where the entry cannot be written nothing is changed", () =>
    Effect.gen(function* () {
      const file = yield* place
      yield* makeKey({ Name: "b", AccessLevel: [] })
      writeTo(
        file,
        "CREATE TRIGGER broken BEFORE INSERT ON audit_entries WHEN NEW.outcome = 'Done' BEGIN SELECT RAISE(ABORT, 'broken'); END"
      )
      assert.include([500, 503], (yield* askJson("POST", "/security/apikeys", { Name: "a", AccessLevel: [] })).status)
      assert.include([500, 503], (yield* ask("DELETE", "/security/apikeys/b")).status)
      const renamed = yield* askJson("PUT", "/security/apikeys/b", { Name: "c", AccessLevel: [] })
      assert.include([500, 503], renamed.status)
      writeTo(file, "DROP TRIGGER broken")
      refusedWith(yield* ask("GET", "/security/apikeys/a"), 404)
      refusedWith(yield* ask("GET", "/security/apikeys/c"), 404)
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/b"))
    })
  )

  it.effect("S15 a name forges no line, whatever it holds", () =>
    Effect.gen(function* () {
      const before = yield* newest
      const forged = "x\r\n2026-01-01 administrator Done \u001b[2J\u001b]0;owned\u0007 \u009b31m\u2028\u202e\u200f"
      refusedWith(yield* ask("DELETE", `/security/apikeys/${encodeURIComponent(forged)}`), 404)
      refusedWith(yield* askJson("POST", "/security/apikeys", { Name: forged, AccessLevel: [] }), 400)
      // Bidirectional marks are no control characters, and a name may hold them.
      const marked = "evil \u202e\u2066\u{e0041} key"
      yield* makeKey({ Name: marked, AccessLevel: [] })
      refusedWith(yield* ask("DELETE", `/security/apikeys/${encodeURIComponent("long".repeat(1000))}`), 404)
      const entries = yield* entriesSince(before, 4)
      assert.sameMembers(
        entries.map(({ subject }) => subject),
        [forged, null, marked, "long".repeat(64).slice(0, 254)]
      )
      for (const entry of entries) {
        const line = auditLine(entry)
        assert.notMatch(line, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        assert.deepStrictEqual(yield* Schema.decodeEffect(Schema.fromJsonString(AuditEntry))(line), entry)
      }
      succeededEmpty(yield* ask("DELETE", `/security/apikeys/${encodeURIComponent(marked)}`))
    })
  )

  it.effect("S15 entries cannot be changed, deleted or replaced", () =>
    Effect.gen(function* () {
      const file = yield* place
      const all = Effect.map(entriesSince(0), (entries) => entries.map(auditLine))
      const before = yield* all
      for (const statement of [
        "UPDATE audit_entries SET outcome = 'Done'",
        "DELETE FROM audit_entries",
        "DELETE FROM audit_entries WHERE number = 1",
        "INSERT OR REPLACE INTO audit_entries SELECT * FROM audit_entries WHERE number = 1",
        `INSERT OR REPLACE INTO audit_entries (number, time, account, actor, actor_name, actor_hint, operation, outcome, details)
          VALUES (1, 0, '', 'Owner', '', '', 'x', 'Done', '{}')`
      ])
        assert.throws(() => writeTo(file, statement), /only added to/, statement)
      assert.deepStrictEqual(yield* all, before)
    })
  )

  it.effect("S15 what a key was used for is known by its levels", () =>
    Effect.gen(function* () {
      const subaccount = "used@example.com"
      const key = yield* makeKey({
        Name: "used",
        AccessLevel: ["ViewContacts", "ModifyContacts", "Export"],
        Subaccount: subaccount
      })
      yield* makeKey({ Name: "unused", AccessLevel: ["Export"], Subaccount: subaccount })
      const levels = usesOf(EmailAddress.make(subaccount)).pipe(
        Effect.map((used) => [...used].map(([name, by]) => [name, [...by.keys()]]))
      )
      assert.deepStrictEqual(yield* levels, [
        ["used", []],
        ["unused", []]
      ])
      const start = Math.floor(Date.now() / 1000) * 1000
      succeeded(yield* askJson("POST", "/contacts", [{ Email: "a@example.com" }], { key }))
      succeeded(yield* ask("GET", "/contacts", { key }))
      refusedWith(yield* ask("GET", "/security/apikeys", { key }), 403)
      assert.deepStrictEqual(yield* levels, [
        ["used", ["ModifyContacts", "ViewContacts"]],
        ["unused", []]
      ])
      const used = yield* usesOf(EmailAddress.make(subaccount))
      const last = used.get("used")?.get("ViewContacts")
      assert.isAtLeast(last === undefined ? 0 : DateTime.toEpochMillis(last), start)
      assert.deepStrictEqual([...(yield* usesOf()).keys()], ["administrator"])
    })
  )

  it.effect("S15 what cannot be a key of the service asks nothing of the store, and is no entry", () =>
    Effect.gen(function* () {
      const { administratorKey } = yield* Wire
      const file = yield* place
      const before = yield* newest
      const bodies = new Set<string>()
      // Whoever looks up a key now fails.
      writeTo(file, "ALTER TABLE credentials RENAME TO elsewhere")
      const last = administratorKey.endsWith("0") ? "1" : "0"
      for (const key of [
        "wrong",
        administratorKey.slice(0, -1) + last,
        administratorKey.replace("roster_", "rostersmtp_")
      ])
        bodies.add(refusedWith(yield* ask("GET", "/contacts", { key }), 401))
      assert.include([500, 503], (yield* ask("GET", "/contacts", { key: unknownKey(1) })).status)
      writeTo(file, "ALTER TABLE elsewhere RENAME TO credentials")
      bodies.add(refusedWith(yield* ask("GET", "/contacts", { key: unknownKey(1) }), 401))
      assert.strictEqual(bodies.size, 1)
      const isUnauthorized = ({ outcome }: AuditEntry) => outcome === "Unauthorized"
      const noted = yield* eventually(
        Effect.map(entriesSince(before), (entries) => entries.filter(isUnauthorized)),
        ({ length }) => length > 0
      )
      assert.strictEqual(noted.length, 1)
    })
  )

  it.effect("S15 a note that cannot be written ends no request, and what was to be noted is noted later", () =>
    Effect.gen(function* () {
      const file = yield* place
      const key = yield* makeKey({ Name: "noted", AccessLevel: ["ViewContacts"] })
      const asked = Effect.gen(function* () {
        succeeded(yield* ask("GET", "/contacts", { key }))
        refusedWith(yield* ask("GET", "/security/apikeys", { key }), 403)
        refusedWith(yield* ask("GET", "/contacts", { key: unknownKey(1) }), 401)
      })
      const before = yield* newest
      const tables = ["audit_entries", "credential_uses"]
      for (const table of tables)
        writeTo(file, `CREATE TRIGGER full_${table} BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'full'); END`)
      yield* asked
      for (const table of tables) writeTo(file, `DROP TRIGGER full_${table}`)
      yield* asked
      assert.strictEqual((yield* entriesSince(before, 4)).length, 4)
      const used = yield* usesOf()
      assert.deepStrictEqual([...(used.get("noted")?.keys() ?? [])], ["ViewContacts"])
    })
  )

  it.effect("each export of a key and the first download of its file are an entry", () =>
    Effect.gen(function* () {
      const before = yield* newest
      const key = yield* makeKey({ Name: "exporter", AccessLevel: ["Export"] })
      const { Link, PublicExportID } = yield* Schema.decodeEffect(Asked)(
        (yield* ask("POST", "/contacts/export", { key })).text
      )
      const path = URL.parse(Link)?.pathname.replace(/^\/v4/, "") ?? ""
      yield* eventually(ask("GET", path), ({ status }) => status === 200)
      assert.strictEqual((yield* ask("GET", path)).status, 200)
      const entries = yield* entriesSince(before, 3)
      assert.deepStrictEqual(
        entries.map(summary).filter(([, , operation]) => operation !== "securityApikeysPost"),
        [
          ["", "exporter", "contactsExportPost", PublicExportID, "Exported"],
          ["", "Unknown", "download", PublicExportID, "Downloaded"]
        ]
      )
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/exporter"))
    })
  )
})
