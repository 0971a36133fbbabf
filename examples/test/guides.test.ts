/** What the pages about rules, bulk work, credentials and the first program show, run on a store in memory. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, CredentialsService, EmailsService, FaultPlan, ListsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Effect, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { deleteBounced, exportCity, importCustomers } from "../src/bulk/Bulk.ts"
import { welcome } from "../src/coming/Calls.ts"
import { keysToLookAt, makeReportingKey } from "../src/credentials/Credentials.ts"
import { activeIn, countReachable, problemOf } from "../src/rules/Rules.ts"

const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

it("the first program runs twice on its file", () => {
  const cwd = mkdtempSync(join(tmpdir(), "roster-first-"))
  const main = fileURLToPath(new URL("../src/starting/main.ts", import.meta.url))
  try {
    for (const _ of [1, 2]) {
      assert.strictEqual(execFileSync(process.execPath, [main], { cwd, encoding: "utf8" }), "Ada <ada@example.com>\n")
    }
  } finally {
    rmSync(cwd, { recursive: true })
  }
})

describe("the guides", () => {
  it.effect("select by rules, in which a value is never syntax", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const city = "' OR email != '"
      yield* contacts.add([
        { email: "ann@example.com", customFields: { city } },
        { email: "ben@example.com", customFields: { city: "Köln" } }
      ])
      assert.deepStrictEqual(
        (yield* activeIn(city)).map(({ email }) => email),
        ["ann@example.com"]
      )
      assert.strictEqual(yield* countReachable, 0)
      assert.isUndefined(yield* problemOf("status = Active"))
      assert.include(yield* problemOf("status = Activ"), "^^^^^")
    }).pipe(Effect.provide(layerMemory()))
  )

  it.effect("import, export and delete many", () =>
    Effect.gen(function* () {
      const file = "Email,Status,Town\nann@example.com,Active,Köln\nben@example.com,Bounced,Köln\nnobody,Active,Köln\n"
      const { done, rejected } = yield* importCustomers(bytes(file))
      assert.deepStrictEqual([done, rejected], [2, 1])
      assert.include(yield* exportCity("Köln"), "ann@example.com")
      assert.strictEqual((yield* deleteBounced).report.deleted, 1)
      const left = yield* ContactsService.use((contacts) => contacts.list())
      assert.deepStrictEqual(
        left.map(({ email }) => email),
        ["ann@example.com"]
      )
    }).pipe(Effect.provide(Layer.provideMerge(RunLog.layer, layerMemory())))
  )

  it.effect("make a key, and find it once nobody uses it", () =>
    Effect.gen(function* () {
      let kept = ""
      yield* makeReportingKey((secret) =>
        Effect.sync(() => {
          kept = Redacted.value(secret)
        })
      )
      assert.match(kept, /^roster_/)
      assert.deepStrictEqual(yield* keysToLookAt, [])
      yield* TestClock.adjust("31 days")
      assert.deepStrictEqual(yield* keysToLookAt, ["reporting: NeverUsed"])
    }).pipe(Effect.provide(layerMemory()))
  )

  it.effect("name methods that the services have", () =>
    Effect.gen(function* () {
      const { apiKeys, smtp } = yield* CredentialsService
      const services = {
        contacts: yield* ContactsService,
        emails: yield* EmailsService,
        lists: yield* ListsService,
        apiKeys,
        smtp
      }
      const page = readFileSync(new URL("../../docs/coming-from.md", import.meta.url), "utf8")
      const rows = [...page.matchAll(/^\| `\w+\(.*?\)` \| `(\w+)\.(\w+)\(/gm)]
      assert.strictEqual(rows.length, 28)
      for (const [, service = "", method = ""] of rows) {
        assert.nestedProperty(services, `${service}.${method}`)
      }
    }).pipe(Effect.provide(layerMemory()))
  )

  it.effect("call as the official client does", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* welcome, "try again later")
      assert.strictEqual(yield* welcome, "Active")
    }).pipe(
      Effect.provide(
        layerMemory().pipe(FaultPlan.layer(FaultPlan.make({ "contacts.add": { 1: FaultPlan.rateLimited() } })))
      )
    )
  )
})
