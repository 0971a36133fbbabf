import { assert, describe, it } from "@effect/vitest"
import * as domain from "@roster/domain"
import { ServiceError, Unavailable } from "@roster/domain"
import { InvalidSettings } from "@roster/http-client"
import { PlatformError } from "effect"
import { codeOf, exitCode, reasonExits, exitInfo, exits } from "../../src/main/ExitCode.ts"
import { usageError } from "../../src/errors/UsageError.ts"

/** The error classes that the domain exports, by name, which is their tag. */
const errorTags = Object.values<unknown>(domain).flatMap((value) =>
  typeof value === "function" && value.prototype instanceof Error ? [value.name] : []
)

const rows: { readonly [tag: string]: { readonly exit: number } } = { ...exits, ...reasonExits }

describe("exit codes", () => {
  it("are what the interface of the command line says", () => {
    assert.deepStrictEqual(exitCode, {
      ok: 0,
      bug: 1,
      usage: 2,
      declined: 3,
      key: 4,
      notFound: 5,
      conflict: 6,
      refused: 7,
      unavailable: 8,
      partlyDone: 9,
      jobFailed: 10,
      interrupted: 130,
      closedPipe: 141,
      terminated: 143
    })
  })

  it("cover every error and every reason of the domain", () => {
    assert.isAbove(errorTags.length, 20)
    const missing = errorTags.filter((tag) => tag !== "ServiceError" && rows[tag] === undefined)
    assert.deepStrictEqual(missing, [])
  })

  it.each([
    ["ConflictingFilter", 2],
    ["TooManyContacts", 2],
    ["UnreadableExport", 2],
    ["TooManyRows", 2],
    ["UnreadableFile", 2],
    ["Declined", 3],
    ["MissingKey", 4],
    ["Unauthorized", 4],
    ["AccessDenied", 4],
    ["ExceedsGrantor", 4],
    ["ContactNotFound", 5],
    ["CredentialNotFound", 5],
    ["ExportNotFound", 5],
    ["JobNotFound", 5],
    ["ListNotFound", 5],
    ["JobEnded", 6],
    ["LastManagingKey", 6],
    ["NameTaken", 6],
    ["TooManyCredentials", 6],
    ["RotationRefused", 6],
    ["NotAllowedSender", 7],
    ["ImportRefused", 7],
    ["InvalidInput", 7],
    ["InvalidRule", 7],
    ["Rejected", 7],
    ["RateLimited", 8],
    ["Unavailable", 8],
    ["TimedOut", 8],
    ["OutcomeUnknown", 8],
    ["InvalidResponse", 8],
    ["UnexpectedContentType", 8],
    ["UnexpectedRedirect", 8],
    ["ResponseTooLarge", 8],
    ["StoreFailure", 8],
    ["Unhealthy", 8],
    ["StoreDamaged", 8],
    ["StoreUnavailable", 8],
    ["ServeError", 8],
    ["ExportTimedOut", 8],
    ["ExportPollingFailed", 8],
    ["TimeLimitReached", 8],
    ["PartlyDone", 9],
    ["NotReplaced", 9],
    ["ExportFailed", 10],
    ["ExportExpired", 10]
  ])("%s is %i", (tag, code) => {
    assert.strictEqual(rows[tag]?.exit, code)
  })

  it("read a service error by its reason, and a usage error by its cause", () => {
    const unavailable = new ServiceError({ operation: "contactsGet", reason: new Unavailable({ detail: "gone" }) })
    assert.strictEqual(exitInfo(unavailable).exit, 8)
    assert.include(exitInfo(unavailable).hint, "the network")
    for (const reached of [{ status: 503 }, { retryAfter: 120 }]) {
      const reason = new Unavailable({ detail: "a rule was stopped", ...reached })
      assert.notInclude(exitInfo(new ServiceError({ operation: "contactsGet", reason })).hint, "the network")
    }
    assert.strictEqual(codeOf(unavailable), "Unavailable")
    assert.deepStrictEqual(exitInfo(usageError("no", "do this")), { exit: 2, hint: "do this" })
    assert.strictEqual(exitInfo(new InvalidSettings({ setting: "baseUrl", issue: "odd" })).exit, 2)
    assert.strictEqual(exitInfo(new InvalidSettings({ setting: "apiKey", issue: "odd" })).exit, 4)
    const write = PlatformError.systemError({ _tag: "Unknown", module: "Output", method: "stdout" })
    assert.strictEqual(exitInfo(write).exit, 1)
    assert.strictEqual(codeOf(write), "WriteFailed")
  })

  it("come with a hint each", () => {
    for (const row of [...Object.values(exits), ...Object.values(reasonExits)]) assert.notStrictEqual(row.hint, "")
  })
})
