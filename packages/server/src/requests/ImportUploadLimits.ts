/** Bounds the files of imports that are being received, which lie in the temporary folder. (docs/limits.md) */
import { RateLimited, ServiceError, Unavailable } from "@roster/domain"
import { Effect } from "effect"
import { registerGauge } from "../metrics/ObservableMetric.ts"
import { LastingRefusals } from "../threads/LastingRefusals.ts"
import { type Full, makeQuota, type Waiter } from "../threads/Quota.ts"

interface UploadLimits {
  readonly uploads: number
  readonly gibibytes: number
}

/** Files that an account sends at one time. */
const limitsOfAccount: UploadLimits = { uploads: 32, gibibytes: 4 }

/** Files of all accounts at one time. */
const limitsOfAll: UploadLimits = { uploads: 128, gibibytes: 16 }

const amountOf = ({ gibibytes, uploads }: UploadLimits): string =>
  `${uploads} files for imports at one time, or ${gibibytes} GiB together`

const operation = "contactsImportPost"

/** In seconds. */
const retryAfter = 10

const accountIsFull = new ServiceError({
  operation,
  reason: new RateLimited({
    detail: `it may send ${amountOf(limitsOfAccount)}. Send this file when another one has arrived.`,
    retryAfter
  })
})

const serviceIsFull = new ServiceError({
  operation,
  reason: new Unavailable({
    detail: `it can receive ${amountOf(limitsOfAll)}`,
    retryAfter
  })
})

/** Makes the count of the files that a service receives. */
export const makeUploadLimits = Effect.gen(function* () {
  const refusals = yield* LastingRefusals
  const files = makeQuota({
    own: limitsOfAccount.uploads,
    all: limitsOfAll.uploads,
    watched: refusals?.watch("files of imports")
  })
  const bytes = makeQuota({
    own: limitsOfAccount.gibibytes * 1024 ** 3,
    all: limitsOfAll.gibibytes * 1024 ** 3,
    watched: refusals?.watch("bytes of files of imports")
  })
  yield* registerGauge("roster_held_uploads", "Files of imports that are being received", files.held)
  yield* registerGauge("roster_held_upload_bytes", "Bytes that are held for these files", bytes.held)
  const refusal = (full: Full) => (full === "own" ? accountIsFull : serviceIsFull)

  /** Counts a file until the scope ends: the bytes that were announced, and then those that come beyond them. */
  return Effect.fnUntraced(function* (account: string, announced: number, waiter?: Waiter) {
    yield* files.hold(account, 1, waiter)
    const takeMore = yield* bytes.hold(account, announced, waiter)
    let left = announced
    /** Counts bytes that have arrived. */
    return (arrived: number): Effect.Effect<void, ServiceError> => {
      const beyond = Math.max(0, arrived - left)
      left = Math.max(0, left - arrived)
      const full = takeMore(beyond)
      return full === undefined ? Effect.void : Effect.fail(refusal(full))
    }
  }, Effect.mapError(refusal))
})
