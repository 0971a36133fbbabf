/**
 * The answers that are kept with idempotency keys, so that the same call gets the first answer again. (docs/limits.md)
 */
import { RateLimited } from "@roster/domain"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Function, Option, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { monotonicMillis } from "../threads/Slices.ts"
import type { Transform } from "node:stream"
import { createDeflateRaw, createInflateRaw, deflateRawSync, inflateRawSync } from "node:zlib"
import { byEngine } from "./SqlDialect.ts"
import { storeClock } from "./StoreClock.ts"

/**
 * The maximum size of the answers that are kept for one account, in bytes. Beyond it the answers that no client asks for
 * again are removed, and then new calls with a key are refused.
 */
const maximumAnswerBytes = 1024 * 1024 * 1024

/** The size of an answer besides its body. */
const answerOverhead = 512

/** In seconds. Our client retries for two minutes. */
const retriedFor = 5 * 60

/** The oldest answers that one call removes, few enough not to delay others. */
const removedAtOnce = 16

/** Why a call with a key is refused if its answer cannot be kept. */
export const answersFull = new RateLimited({
  detail:
    "the answers kept for its Idempotency-Keys hold 1 GiB. Wait, send less at once, or send without an Idempotency-Key.",
  retryAfter: retriedFor
})

/** An answer with the digest of its call. */
interface KeptAnswer {
  readonly request_digest: Uint8Array
  readonly status: number
  /** Deflated: the answer to an add of 1000 contacts is large and repetitive. */
  readonly body: Uint8Array
  /** When it was kept. */
  readonly created: number
}

interface FoundRow extends Partial<KeptAnswer> {
  /** The sums of bytes up to the newest and the oldest answer of the account. */
  readonly last: number | null
  readonly first: number | null
}

const isKnown = (found: FoundRow): found is FoundRow & KeptAnswer => typeof found.status === "number"

/** Looks for the answer of a key, and for what is kept for the account. */
export const findAnswer = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, account: string, key: string) {
  const [found] = yield* sql<FoundRow>`
    SELECT last, first, request_digest, status, body, created FROM (
      SELECT (SELECT max(running) FROM idempotent_answers WHERE account = ${account}) AS last,
        (SELECT min(running) FROM idempotent_answers WHERE account = ${account}) AS first
    ) AS kept LEFT JOIN idempotent_answers ON account = ${account} AND call_key = ${key}`
  return {
    known: found !== undefined && isKnown(found) ? found : undefined,
    last: Number(found?.last ?? 0),
    first: Number(found?.first ?? 0)
  }
})

/** How long a measurement is used, in seconds. An account can exceed its bound by what it adds in this time. */
const measuredFor = 10

/**
 * In bytes: an account whose running sum is smaller is not measured. Calls at one time can make that sum too small, but not
 * 64 times.
 */
const measuredFrom = maximumAnswerBytes / 64

interface Measurement {
  readonly bytes: number
  /** The second of `monotonicMillis` at which it is over. */
  readonly until: number
}

/** The measurements of accounts, by the client of their store. */
const measurementsOn: (sql: SqlClient.SqlClient) => Map<string, Measurement> = Function.memoize(() => new Map())

/** The bytes that are kept for an account where calls at one time add to the same sum. */
const measured = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, account: string, sum: number) {
  const known = measurementsOn(sql)
  const now = monotonicMillis() / 1000
  const before = known.get(account)
  if (before !== undefined && before.until > now) return before.bytes
  for (const [other, { until }] of known) if (until <= now) known.delete(other)
  // Calls that come meanwhile do not measure again.
  known.set(account, { bytes: before?.bytes ?? sum, until: now + measuredFor })
  const [row] = yield* sql<{ readonly bytes: number }>`
    SELECT coalesce(sum(octet_length(body) + ${answerOverhead}::bigint), 0) AS bytes
    FROM idempotent_answers WHERE account = ${account}`
  const bytes = Number(row?.bytes ?? 0)
  known.set(account, { bytes, until: now + measuredFor })
  return bytes
})

/**
 * Whether an account may keep a further answer. At the bound it removes some of the oldest that no client asks for
 * again.
 */
export const hasCapacity = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  account: string,
  { first, last }: { readonly first: number; readonly last: number }
) {
  const sum = last - first
  const isMeasured = byEngine(sql, { sqlite: () => false, postgres: () => sum >= measuredFrom })
  const kept = isMeasured ? yield* measured(sql, account, sum) : sum
  if (kept < maximumAnswerBytes) return true
  const removed = yield* sql<{ readonly bytes: number }>`
    DELETE FROM idempotent_answers WHERE account = ${account} AND created <= ${yield* storeClock(sql).inSql} - ${retriedFor}
      AND call_key IN (
        SELECT call_key FROM idempotent_answers WHERE account = ${account} ORDER BY running LIMIT ${removedAtOnce}
      ) RETURNING octet_length(body) AS bytes`
  const freed = removed.reduce((bytes, one) => bytes + one.bytes + answerOverhead, 0)
  // Read again, since another call may have removed the same answers meanwhile.
  const known = isMeasured ? measurementsOn(sql).get(account) : undefined
  const left = (known?.bytes ?? kept) - freed
  if (known !== undefined) measurementsOn(sql).set(account, { ...known, bytes: left })
  return left < maximumAnswerBytes
})

const fast = { level: 1 }

/** What an answer consists of: a stream if that is too large to be made at once. */
export type AnswerBody = string | Uint8Array | Stream.Stream<Uint8Array, unknown>

/** A kept answer to be sent: a stream if it is long. */
export type SentBody = string | Stream.Stream<Uint8Array>

const deflated = (body: AnswerBody): Effect.Effect<Uint8Array> =>
  Stream.isStream(body)
    ? Effect.map(Stream.runCollect(through(body, () => createDeflateRaw(fast))), Buffer.concat)
    : Effect.sync(() => deflateRawSync(body, fast))

/** A failure of the store in the middle of an answer is none that its client could be told. */
const through = (body: Stream.Stream<Uint8Array, unknown>, transform: () => Transform): Stream.Stream<Uint8Array> =>
  Stream.orDie(NodeStream.pipeThroughSimple(body, transform))

/** Forgets the answer of a key. */
export const forgetAnswer = (sql: SqlClient.SqlClient, account: string, key: string) =>
  Effect.asVoid(sql`DELETE FROM idempotent_answers WHERE account = ${account} AND call_key = ${key}`)

/** Keeps an answer, in the transaction of its call. */
export const keepAnswer = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  answer: {
    readonly account: string
    readonly key: string
    readonly digest: Uint8Array
    readonly status: number
    readonly body: AnswerBody
  }
) {
  const { account, digest, key, status } = answer
  const body = yield* deflated(answer.body)
  yield* sql`
    INSERT INTO idempotent_answers (account, call_key, request_digest, status, body, created, running)
    SELECT ${account}, ${key}, ${digest}, ${status}, ${body}, ${yield* storeClock(sql).inSql},
      coalesce(max(running), 0) + ${body.length + answerOverhead} FROM idempotent_answers WHERE account = ${account}`
})

/** The text of an answer as it was kept. */
export const answerText = ({ body }: Pick<KeptAnswer, "body">): string => inflateRawSync(body).toString()

/** A longer answer is inflated and sent piece by piece, as its client takes it, in bytes. */
const longestText = 1024 * 1024

/** What is read of such an answer at one time, in bytes. */
const pieceBytes = 256 * 1024

/** The answer of a key as it was kept: a text, or a stream of a long one. */
export const answerBody = (
  sql: SqlClient.SqlClient,
  account: string,
  key: string,
  { body }: Pick<KeptAnswer, "body">
): SentBody => {
  try {
    return inflateRawSync(body, { maxOutputLength: longestText }).toString()
  } catch {
    const { length } = body
    const pieces = Stream.paginate(
      0,
      Effect.fnUntraced(function* (from) {
        const [row] = yield* sql<{ readonly piece: Uint8Array }>`
          SELECT substr(body, ${from + 1}, ${pieceBytes}) AS piece FROM idempotent_answers
          WHERE account = ${account} AND call_key = ${key}`
        const next = from + pieceBytes
        return [row === undefined ? [] : [row.piece], next < length ? Option.some(next) : Option.none()] as const
      })
    )
    return through(pieces, createInflateRaw)
  }
}
