/**
 * The retry table of the specification, written by hand, against what the client does.
 */
import { assert, describe, it } from "@effect/vitest"
import { announcements, operations } from "@roster/api"
import { retryTable } from "@roster/http-client"
import { Effect } from "effect"
import { clockedTrial } from "./ClockedTrial.ts"
import { deleteByEmails, dryRun, everyOperation, type OperationCall, ownOperations } from "./EveryOperation.ts"
import type { ScriptedAnswer } from "./server/ScriptedHttpClient.ts"
import { failure, reason, succeeded } from "./Verdict.ts"

/** Whether a failure of each kind may be repeated: N, J that asks to slow down, J that does not, A, P. */
type Row = readonly [N: boolean, throttled: boolean, J: boolean, A: boolean, P: boolean]

const safe: Row = [true, true, true, true, false]
const unlessAmbiguous: Row = [true, true, true, false, false]
const secret: Row = [true, true, false, false, false]

const oracle: { readonly [id: string]: Row } = {
  contactsByEmailGet: safe,
  contactsGet: safe,
  contactsExportByIdStatusGet: safe,
  securityApikeysGet: safe,
  securityApikeysByNameGet: safe,
  securitySmtpGet: safe,
  securitySmtpByNameGet: safe,
  contactsByEmailPut: safe,
  securityApikeysByNamePut: safe,
  securitySmtpByNamePut: safe,
  contactsByEmailDelete: safe,
  securityApikeysByNameDelete: safe,
  securitySmtpByNameDelete: safe,
  contactsByEmailHistoryGet: safe,
  contactsChangesPost: safe,
  contactsCountGet: safe,
  contactsFieldsGet: safe,
  contactsLookupPost: safe,
  contactsSearchPost: safe,
  listsByListnameContactsGet: safe,
  listsByNameContactsPost: safe,
  listsByNameContactsRemovePost: safe,
  listsByNameDelete: safe,
  listsByNameGet: safe,
  listsByNamePut: safe,
  listsGet: safe,
  listsPost: unlessAmbiguous,
  accountAuditGet: safe,
  accountEmailsByIdGet: safe,
  accountEmailsGet: safe,
  accountJobsByIdCancelPost: safe,
  accountJobsByIdGet: safe,
  accountJobsByIdKeptGet: safe,
  accountJobsByIdRejectedGet: safe,
  accountJobsGet: safe,
  accountKeyGet: safe,
  accountKeyUsesGet: safe,
  accountRulesByNameDelete: safe,
  accountRulesByNamePut: safe,
  accountRulesGet: safe,
  accountOverviewGet: safe,
  runsByIdChangesGet: safe,
  runsByIdEndPost: safe,
  runsByIdErasePost: safe,
  runsByIdGet: safe,
  runsByIdStepPost: safe,
  runsGet: safe,
  runsPost: safe,
  "contactsChangesPost as a dry run": safe,
  "contactsDeletePost by e-mails": safe,
  contactsDeletePost: unlessAmbiguous,
  contactsPost: unlessAmbiguous,
  contactsExportPost: unlessAmbiguous,
  contactsImportPost: unlessAmbiguous,
  emailsPost: unlessAmbiguous,
  securityApikeysPost: secret,
  securitySmtpPost: secret
}

const kinds: ReadonlyArray<{ readonly name: string; readonly failures: ReadonlyArray<ScriptedAnswer> }> = [
  {
    name: "NotSent",
    failures: [
      { code: "ECONNREFUSED", syscall: "connect" },
      { code: "ECONNRESET", syscall: "connect" },
      { code: "ENOTFOUND", syscall: "getaddrinfo" },
      { code: "EAI_AGAIN", syscall: "getaddrinfo" },
      { code: "EHOSTUNREACH", syscall: "connect" },
      { code: "UND_ERR_CONNECT_TIMEOUT" }
    ]
  },
  {
    name: "NotProcessed, throttled",
    failures: [
      { status: 429 },
      { status: 429, headers: { "retry-after": "3" } },
      { status: 503, headers: { "retry-after": "1" } }
    ]
  },
  { name: "NotProcessed", failures: [{ status: 408 }, { status: 425 }] },
  {
    name: "Ambiguous",
    failures: [
      { code: "ECONNRESET", syscall: "read" },
      { code: "EPIPE", syscall: "write" },
      { code: "UND_ERR_SOCKET" },
      { code: "HPE_INVALID_CONSTANT" },
      ...[500, 501, 502, 503, 504, 505, 499, 520, 521, 522, 523, 524, 599].map((status) => ({ status }))
    ]
  },
  {
    name: "Permanent",
    failures: [
      ...[301, 302, 307, 308, 400, 401, 402, 403, 404, 405, 406, 409, 410, 413, 415, 418, 422, 451].map((status) => ({
        status
      })),
      { code: "CERT_HAS_EXPIRED" },
      { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
      { code: "ERR_TLS_CERT_ALTNAME_INVALID" }
    ]
  }
]

const rows: ReadonlyArray<readonly [name: string, operation: OperationCall]> = [
  ...[...everyOperation, ...ownOperations].map((operation) => [operation.id, operation] as const),
  ["contactsDeletePost by e-mails", deleteByEmails],
  ["contactsChangesPost as a dry run", dryRun]
]

const readsByPost = new Set(["contactsLookupPost", "contactsSearchPost"])

/** What changes nothing, so that no failure leaves anything unknown. */
const isRead = (name: string, { method }: OperationCall): boolean =>
  method === "GET" || readsByPost.has(name) || name.endsWith("a dry run")

const words = Object.fromEntries(announcements.map(({ name, value }) => [name, value]))

/** The fault as a service answers it that knows the operations of our own. */
const withWord = (fault: ScriptedAnswer): ScriptedAnswer =>
  typeof fault === "object" && "status" in fault ? { ...fault, headers: { ...fault.headers, ...words } } : fault

describe("the retry table", () => {
  it("T00 has a row in the oracle for each of the 28 operations of the interface, each of our own, and no other", () => {
    assert.strictEqual(everyOperation.length, 28)
    assert.strictEqual(new Set(everyOperation.map((operation) => operation.id)).size, 28)
    const all = [...everyOperation, ...ownOperations]
    const ids = new Set(Object.keys(oracle).map((name) => name.split(" ")[0]))
    assert.deepStrictEqual([...ids].sort(), all.map((operation) => operation.id).sort())
    assert.deepStrictEqual(
      [...new Set(Object.keys(retryTable).map((name) => name.split(" ")[0]))].sort(),
      [...ids].sort()
    )
  })

  for (const [index, { failures, name: kind }] of kinds.entries()) {
    it.effect.each(rows)(`T0${index + 1} ${kind}: %s`, ([name, operation]) =>
      Effect.gen(function* () {
        const { answer, call } = operation
        const isRepeated = oracle[name]?.[index] ?? false
        for (const fault of operations.get(operation.id)?.announcedBy ? failures.map(withWord) : failures) {
          const about = `${name} after ${JSON.stringify(fault)}`
          const once = yield* clockedTrial({ call, answers: [fault, answer], random: 0 })
          assert.strictEqual(once.requests.length, isRepeated ? 2 : 1, about)
          if (isRepeated) succeeded(once, about)
          const always = yield* clockedTrial({ call, answers: [fault], random: 0 })
          assert.strictEqual(always.requests.length, isRepeated ? 3 : 1, about)
          if (kind === "Ambiguous") {
            if (isRead(name, operation)) reason(always, ["Unavailable", "TimedOut"], about)
            else reason(always, "OutcomeUnknown", about)
          } else failure(always, about)
        }
      })
    )
  }

  it.effect("T06 one counter counts all kinds of failure together", () =>
    Effect.gen(function* () {
      for (const [name, { call }] of rows) {
        const { requests } = yield* clockedTrial({
          call,
          answers: [
            { code: "ECONNREFUSED", syscall: "connect" },
            { status: 429 },
            { code: "ENOTFOUND" },
            { status: 429 }
          ],
          random: 0
        })
        assert.strictEqual(requests.length, 3, name)
      }
    })
  )

  it.effect(
    "T07 a doubt is not forgotten: A, then failures that prove nothing of the first attempt, is no plain failure of a write",
    () =>
      Effect.gen(function* () {
        const writes = rows.filter(([name, operation]) => !isRead(name, operation))
        assert.strictEqual(writes.length, 27)
        for (const [name, { call }] of writes) {
          const ended = yield* clockedTrial({
            call,
            answers: [{ status: 500 }, { code: "ECONNREFUSED", syscall: "connect" }],
            random: 0
          })
          reason(ended, "OutcomeUnknown", name)
        }
      })
  )
})
