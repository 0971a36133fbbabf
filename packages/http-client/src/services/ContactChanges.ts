/**
 * Conditional changes. A service that says that it knows them compares and changes each contact in one step; at any other
 * the client reads the contacts, compares, and adds or deletes them, and its answers are not exact.
 * (docs/decisions/changes.md)
 */
import { changesHonoured, resubscribeHonoured } from "@roster/api"
import {
  canonicalEmail,
  type ChangeAnswer,
  ChangeAnswerRecord,
  type ChangeOptions,
  type Contact,
  type ContactChange,
  type ContactNotFound,
  type ContactPayload,
  InvalidInput,
  judgeChange,
  Rejected,
  ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { checkIdempotencyKey, encodeChanges, exactAnswer, payloadOfChange, withContent } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { keyUsed, makeCall } from "../calls/Call.ts"
import { finalError, invalidResponse } from "../calls/ErrorClassification.ts"
import { makeExtensionCall } from "../calls/ExtensionCall.ts"
import { readJson } from "../calls/ResponseDecoding.ts"
import { retryTable } from "../calls/RetryTable.ts"
import type { RosterHttpApi } from "../calls/RosterHttpApi.ts"
import { decided, readBefore } from "./ConsentGuard.ts"

const operation = "contactsChangesPost"
const readAnswers = readJson(Schema.Array(ChangeAnswerRecord))

type Failed = TooManyContacts | InvalidInput | ServiceError

/** The operations that the changes are made of. */
interface Operations {
  readonly get: (email: string) => Effect.Effect<Contact, ContactNotFound | InvalidInput | ServiceError>
  readonly add: (
    contacts: ReadonlyArray<ContactPayload>,
    listNames: ReadonlyArray<string> | undefined
  ) => Effect.Effect<unknown, Failed>
  readonly delete: (email: string) => Effect.Effect<unknown, ContactNotFound | InvalidInput | ServiceError>
}

/** Refuses what only a service that knows changes can do. */
const sayable = ({ write }: ContactChange, index: number): Effect.Effect<void, InvalidInput> => {
  const refused = (field: string, what: string) =>
    Effect.fail(new InvalidInput({ field: `[${index}].write.${field}`, issue: `this service has no way to ${what}` }))
  if (write?.removeFromLists?.length) return refused("removeFromLists", "take a contact off a list")
  const { consent } = write ?? {}
  return consent === null || Object.values(consent ?? {}).includes(null)
    ? refused("consent", "remove the consent of a contact")
    : Effect.void
}

/** Reads, compares and writes. */
const readThenWrite = Effect.fnUntraced(function* (
  operations: Operations,
  changes: ReadonlyArray<ContactChange>,
  { dryRun = false }: ChangeOptions
) {
  yield* Effect.forEach(changes, sayable, { discard: true })
  const contacts = new Map<string, Contact | null>(yield* readBefore(changes, operations.get))
  const steps: Array<Effect.Effect<unknown, Failed>> = []
  let batch: { readonly key: string; readonly rows: Array<ContactPayload> } | undefined
  const answers = changes.map((change): ChangeAnswer => {
    const { email, write } = change
    const identity = canonicalEmail(email)
    const contact = contacts.get(identity) ?? null
    const listNames = write?.addToLists?.length ? write.addToLists : undefined
    const { after, result } = judgeChange(contact, change, listNames === undefined)
    if (result === "Outdated") return { _tag: result, exact: false, contact }
    if (result === "AlreadySo") return { _tag: result, exact: false }
    contacts.set(identity, after === null ? null : withContent(contact ?? { email }, after))
    if (write === undefined) {
      batch = undefined
      steps.push(Effect.catchTag(operations.delete(email), "ContactNotFound", () => Effect.void))
      return { _tag: result, exact: false }
    }
    const key = JSON.stringify(listNames ?? [])
    if (batch?.key !== key) {
      const rows: Array<ContactPayload> = []
      batch = { key, rows }
      steps.push(operations.add(rows, listNames))
    }
    // A status that would resubscribe is left out.
    batch.rows.push({ ...payloadOfChange(change), status: after?.status === write.status ? write.status : undefined })
    return { _tag: result, exact: false }
  })
  if (dryRun) return answers
  let isBegun = false
  for (const step of steps) {
    yield* Effect.mapError(step, (error) => (isBegun || isUnknown(error) ? unfinished(error) : error))
    isBegun = true
  }
  return answers
})

/** Whether the service may have carried out a write, whose own advice to repeat it would overwrite others' changes. */
const isUnknown = (error: Failed): boolean => error._tag === "ServiceError" && error.reason._tag === "OutcomeUnknown"

/** An error after some of the changes were made, or may have been. */
const unfinished = (error: Failed): ServiceError =>
  finalError(
    { operation, row: retryTable[operation], about: "" },
    {
      evidence: "Ambiguous",
      error:
        error._tag === "ServiceError"
          ? error
          : new ServiceError({ operation, reason: new Rejected({ status: 400, detail: error.message }) })
    }
  )

/** Makes `change` of a client. */
export const makeChange = (shared: RosterHttpApi["Service"], operations: Operations) => {
  const { said, withKey } = shared
  const isResubscribeHonoured = said(resubscribeHonoured)
  const callExtension = makeExtensionCall(makeCall(shared), said(changesHonoured))

  return Effect.fnUntraced(function* (changes: ReadonlyArray<ContactChange>, options: ChangeOptions = {}) {
    const { dryRun = false, idempotencyKey } = options
    yield* checkIdempotencyKey(idempotencyKey)
    // What is wrong is refused at any service.
    const given = yield* encodeChanges(changes)
    const body = isResubscribeHonoured.current === false ? yield* encodeChanges(changes.map(decided)) : given
    const request = HttpClientRequest.post("/contacts/changes").pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.setUrlParams(dryRun ? { dryRun: "true" } : {}),
      HttpClientRequest.bodyUint8Array(body, "application/json")
    )
    const answers = yield* callExtension({
      operation,
      row: dryRun ? "contactsChangesPost as a dry run" : operation,
      send: withKey.execute(request),
      idempotencyKey,
      byStatus: keyUsed(idempotencyKey),
      read: Effect.fnUntraced(function* (operation, response, secrets) {
        const answers = yield* readAnswers(operation, response, secrets)
        if (answers.length === changes.length) return answers.map(exactAnswer)
        return yield* Effect.fail(invalidResponse(operation, response.status, "it does not answer each change"))
      }),
      refusals: ["TooManyContacts", "IdempotencyKeyReused", "InvalidInput"]
    })
    return answers ?? (yield* readThenWrite(operations, changes, options))
  })
}
