/** Mail sending on SQL: an accepted message is stored in the outbox and is not sent from there. */
import {
  canonicalEmail,
  emailAddressIssue,
  EmailMessage,
  EmailSend,
  EmailsService,
  InvalidInput,
  NotAllowedSender,
  RateLimited,
  ServiceError,
  checkedMethods
} from "@roster/domain"
import { fnRedacted, StrictJson, validated } from "@roster/domain/internal"
import { Effect, Layer, Schema } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { encoded } from "../store/AnswerEncoding.ts"
import { asCaller } from "../credentials/CallerCheck.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { StorePolicy } from "../store/StoreOptions.ts"
import { dialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { inSlices, yieldToEventLoop } from "../threads/Slices.ts"
import { asItWas, keyedCalls } from "../credentials/KeyedCalls.ts"

const readMessage = validated(EmailMessage)
const encodeMessage = Schema.encodeEffect(Schema.fromJsonString(EmailMessage))

/** Maximum size of a message with its attachments, in bytes. */
const maximumMessageBytes = 20 * 1024 * 1024

/** In bytes. */
const longMessage = 256 * 1024

/** What the outbox of an account holds until its owner takes messages out of it. */
const maximumMessages = 100_000
const maximumOutboxBytes = 2 * 1024 * 1024 * 1024

const outboxFull = new ServiceError({
  operation: "emailsPost",
  reason: new RateLimited({
    detail:
      "its outbox holds 100,000 messages or 2 GiB. The service sends none of them: take messages out of the " +
      "table outbox of the store first.",
    retryAfter: 120
  })
})

/** The address of a From line: `Name <address>`, or the address alone. */
const senderAddress = (from: string): string => (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim()

/** Whether an address matches a pattern: an address, `*@example.com` or `example.com` for a whole domain, or `any`. */
const isAllowedSender = (address: string, patterns: ReadonlyArray<string>): boolean => {
  const identity = canonicalEmail(address)
  return patterns.some((pattern) => {
    if (pattern === "any") return true
    const allowed = canonicalEmail(pattern)
    const domain = allowed.includes("@") ? (allowed.startsWith("*@") ? allowed.slice(1) : undefined) : `@${allowed}`
    return domain === undefined ? identity === allowed : identity.endsWith(domain)
  })
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { allowedSenders } = yield* StorePolicy

  const sendOnce = keyedCalls(sql, "emailsPost", EmailMessage, asItWas(EmailSend))

  const sendNow = fnRedacted("EmailsService.send")(function* (given: EmailMessage) {
    const { account } = yield* Caller
    const message = yield* readMessage(given)
    yield* yieldToEventLoop
    const { envelopeFrom, from } = message.content
    const invalid = (field: string, issue: string) => new InvalidInput({ field, issue })
    // Some clients send an empty text for what is not given.
    const senders = envelopeFrom ? { from, envelopeFrom } : { from }
    for (const [name, sender] of Object.entries(senders)) {
      const email = senderAddress(sender)
      const issue = emailAddressIssue(email)
      if (issue !== undefined) return yield* invalid(`content.${name}`, issue)
      if (!isAllowedSender(email, allowedSenders)) return yield* new NotAllowedSender({ email })
    }
    for (const [index, recipient] of message.recipients.entries()) {
      const issue = emailAddressIssue(recipient.email.trim())
      if (issue !== undefined) return yield* invalid(`recipients[${index}].email`, issue)
    }
    const json = yield* Effect.orDie(encodeMessage(message))
    const bytes = Buffer.byteLength(json)
    // A large message takes others some milliseconds at each step.
    const pause = bytes > longMessage ? yieldToEventLoop : Effect.void
    yield* pause
    if (bytes > maximumMessageBytes * (4 / 3)) {
      return yield* invalid("content.attachments", "a message has at most 20 MB with its attachments")
    }
    if (yield* inSlices(() => StrictJson.hasManyEscapes(json))) return yield* invalid("body", StrictJson.tooManyEscapes)
    const crypto = yield* WebCrypto
    const messageId = crypto.randomUUID()
    const transactionId = crypto.randomUUID()
    const store = Effect.gen(function* () {
      yield* dialect(sql).lockAccounts([account])
      const [held] = yield* sql<{ readonly messages: number; readonly bytes: number }>`
        SELECT count(*) AS messages, coalesce(sum(bytes), 0) AS bytes FROM outbox WHERE account = ${account}`
      if (Number(held?.messages ?? 0) >= maximumMessages || Number(held?.bytes ?? 0) + bytes > maximumOutboxBytes) {
        return yield* outboxFull
      }
      yield* sql`
        INSERT INTO outbox ${sql.insert({
          message_id: messageId,
          transaction_id: transactionId,
          account,
          message: json,
          bytes,
          created: yield* storeClock(sql).seconds
        })}`
      yield* pause
      return yield* encoded({ transactionId, messageId })
    })
    return yield* asCaller(sql, "emailsPost", store)
  }, orStoreFailure("emailsPost"))

  return checkedMethods(EmailsService, {
    send: (given, options = {}) => sendOnce(options, () => given, sendNow(given))
  })
})

/** Provides `EmailsService` on the database of a store. */
export const layer: Layer.Layer<EmailsService, never, SqlClient.SqlClient | StorePolicy> = Layer.effect(
  EmailsService,
  make
)
