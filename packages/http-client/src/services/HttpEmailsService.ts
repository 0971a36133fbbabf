/** Mail sending over HTTP. */
import { EmailSend, EmailsService, checkedMethods } from "@roster/domain"
import { checkIdempotencyKey } from "@roster/domain/internal"
import { Effect, Layer } from "effect"
import { readJson } from "../calls/ResponseDecoding.ts"
import { keyUsed, makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"

const readEmailSend = readJson(EmailSend)

/**
 * Makes the service on a shared client.
 * @internal
 */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, fn } = shared
  const call = makeCall(shared)

  return checkedMethods(EmailsService, {
    send: fn("EmailsService.send")(function* (message, { idempotencyKey } = {}) {
      yield* checkIdempotencyKey(idempotencyKey)
      return yield* call({
        ...api.emailsPost({ payload: message }),
        idempotencyKey,
        byStatus: keyUsed(idempotencyKey),
        read: readEmailSend,
        refusals: ["NotAllowedSender", "IdempotencyKeyReused", "InvalidInput"]
      })
    })
  })
})

/** The service on a new client. */
export const layer = (options: ClientOptions) =>
  Layer.effect(EmailsService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
