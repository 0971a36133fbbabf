/** Authenticates and authorises a request before anything else of it is read. */
import {
  elasticEmailApiKeyHeader,
  apiKeyHeader,
  Forbidden,
  levelOf,
  OperationPolicy,
  UnauthorizedRequest
} from "@roster/api"
import { AccessDenied, type AccessLevel, Unauthorized, type AuditDetails } from "@roster/domain"
import { SecretFormat } from "@roster/domain/internal"
import { Clock, Context, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient, type SqlError } from "effect/sql"
import { AuditRefusals } from "../credentials/AuditRefusals.ts"
import { type AuditEvent, eventOf } from "../credentials/AuditTrail.ts"
import { Caller, type CallerIdentity } from "../credentials/Caller.ts"
import { errorResponse, type Guard, type Respond } from "./Routes.ts"
import { AccessLog } from "../network/AccessLog.ts"
import { hasLevel, keyLookup, type KeyRow, makeRangeCheck, makeUseRecorder } from "../credentials/KeyLookup.ts"
import { digestOf } from "../credentials/Secret.ts"
import { clientAddress, TrustedProxies } from "./ClientAddress.ts"
import { admit } from "../network/OpenRequests.ts"
import { asShortCall, ConnectionUse } from "../store/postgres/PostgresOptions.ts"
import { InProcess, orStoreFailure } from "../store/StoreFailure.ts"
import { publicAddress } from "./AllowedHosts.ts"
import type { Full } from "../threads/Quota.ts"
import { toWireError } from "./WireErrors.ts"
import { makeFailedAuthThrottle } from "./FailedAuthThrottle.ts"

/** The headers that may carry a key, in lower case. */
export const keyHeaders = [apiKeyHeader, elasticEmailApiKeyHeader].map((name) => name.toLowerCase())

/** Reads the key, with or without a scheme. Two keys count as none. */
const keyOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined => {
  let key: string | undefined
  for (const name of keyHeaders) {
    const value = headers[name]
    if (value !== undefined && key !== undefined) return undefined
    key ??= value
  }
  key = key?.trim().replace(/^[A-Za-z]+ +/, "")
  return key === "" ? undefined : key
}

/** The level of operations that every valid key may call. */
const anyLevel: AccessLevel = "None"

/** The name of an unknown path in the audit trail. */
const noOperation = "noOperation"

const refused = (status: number, text: string) =>
  Effect.succeed(HttpServerResponse.setHeader(errorResponse(status, text), "retry-after", "1"))

/** The answers to a request beyond those that may be at work. */
const tooManyAtWork = {
  own: refused(429, "This account has as many requests at work at one time as it may. Send this one again later."),
  all: refused(503, "The service has as many requests at work as it may. Send this one again later.")
} satisfies Record<Full, unknown>

/** What a program that is written by hand learns here first. */
const sendKey = `Send it in the header ${apiKeyHeader} or ${elasticEmailApiKeyHeader}.`

const callerOf = (row: KeyRow, peer: string, required: AccessLevel): CallerIdentity => ({
  account: row.account,
  key: {
    id: row.id,
    name: row.name,
    hint: row.secret_hint,
    level: required,
    mayViewContacts: hasLevel(row, "ViewContacts")
  },
  peer
})

export const authentication = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const refusals = yield* AuditRefusals
  const log = yield* AccessLog
  const findKey = keyLookup(sql)
  const recordUse = makeUseRecorder(sql)
  const isInKeyRanges = makeRangeCheck()
  const delayFailedAuth = yield* makeFailedAuthThrottle

  /** Why a known key may not call an operation, as audit details; `undefined` if it may. */
  const objectionTo = (row: KeyRow, required: AccessLevel, peer: string): AuditDetails | undefined => {
    if (required !== anyLevel && !hasLevel(row, required)) return { required }
    return isInKeyRanges(row, peer) ? undefined : { because: "OutsideRanges" }
  }

  const before = (operation: string, required: AccessLevel, answer: Respond): Respond => {
    const orFailure = orStoreFailure(operation)
    const failed = (effect: Effect.Effect<KeyRow | undefined, SqlError.SqlError>) => toWireError(orFailure(effect))

    const refuse = Effect.fnUntraced(function* (peer: string) {
      yield* delayFailedAuth(peer)
      return yield* new UnauthorizedRequest({ Error: `${new Unauthorized({}).message} ${sendKey}` })
    })

    const refuseKey = Effect.fnUntraced(function* (row: KeyRow | undefined, peer: string) {
      const event: AuditEvent =
        row === undefined
          ? { actor: { _tag: "Unknown" }, account: "", peer, operation }
          : { ...eventOf(callerOf(row, peer, required), operation), details: { because: "Expired" } }
      yield* refusals.record(event, "Unauthorized")
      return yield* refuse(peer)
    })

    const refuseAccess = Effect.fnUntraced(function* (row: KeyRow, peer: string, details: AuditDetails) {
      yield* refusals.record({ ...eventOf(callerOf(row, peer, required), operation), details }, "AccessDenied")
      return yield* new Forbidden({ Error: new AccessDenied({ required }).message })
    })

    /** A key may have lost what it needs while its request was received. Changes of credentials are recorded with them. */
    const recordDenied = Effect.fnUntraced(function* (caller: CallerIdentity, error: unknown) {
      if (operation.startsWith("security")) return
      const outcome =
        error instanceof UnauthorizedRequest ? "Unauthorized" : error instanceof Forbidden ? "AccessDenied" : undefined
      if (outcome !== undefined) yield* refusals.record(eventOf(caller, operation), outcome)
    })

    return (incoming) =>
      Effect.contextWith((context: Context.Context<never>) => {
        if (Context.get(context, InProcess)) return answer(incoming)
        const { request } = incoming
        const peer = clientAddress(request, Context.get(context, TrustedProxies))
        const key = keyOf(request)
        if (key === undefined) return refuseKey(undefined, peer)
        // No key of any store: neither looked up nor recorded.
        if (!SecretFormat.isApiKey(key)) return refuse(peer)
        return Effect.flatMap(failed(asShortCall(findKey(digestOf(key), Context.get(context, Clock.Clock)))), (row) => {
          if (row !== undefined) log?.note(request, { key: row.secret_hint })
          if (row === undefined || (row.expires !== null && row.expires <= row.now)) return refuseKey(row, peer)
          const full = admit(row.account, request)
          if (full !== undefined) return tooManyAtWork[full]
          const details = objectionTo(row, required, peer)
          if (details !== undefined) return refuseAccess(row, peer, details)
          const caller = { ...callerOf(row, peer, required), serviceUrl: () => publicAddress(request, context) }
          const answered = answer(incoming).pipe(
            Effect.tapError((error) => recordDenied(caller, error)),
            Effect.provideService(Caller, caller),
            Effect.provideService(ConnectionUse, { account: row.account, isShort: false })
          )
          const recorded = required === anyLevel ? undefined : recordUse(row, required)
          return recorded === undefined ? answered : Effect.andThen(asShortCall(recorded), answered)
        })
      })
  }

  const guard: Guard = ({ annotations, identifier }, answer) =>
    before(identifier, levelOf(Context.getUnsafe(annotations, OperationPolicy)), answer)
  return {
    /** Guards an operation of the contract. */
    guard,
    /** Guards a response that every valid key may get. */
    withAnyKey: (answer: Respond): Respond => before(noOperation, anyLevel, answer)
  }
})
