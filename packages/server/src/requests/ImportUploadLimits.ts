/** Bounds the files of imports that are being received, which lie in the temporary folder. (docs/limits.md) */
import { RateLimited, ServiceError, Unavailable } from "@roster/domain"
import { Effect } from "effect"

interface UploadLimits {
  readonly uploads: number
  readonly gibibytes: number
}

/** Files that an account sends at one time. */
const limitsOfAccount: UploadLimits = { uploads: 32, gibibytes: 4 }

/** Files of all accounts at one time. */
const limitsOfAll: UploadLimits = { uploads: 128, gibibytes: 16 }

const amountOf = ({ gibibytes, uploads }: UploadLimits): string =>
  `${uploads} at one time, or ${gibibytes} GiB together`

const operation = "contactsImportPost"

/** In seconds. */
const retryAfter = 10

const accountIsFull = new ServiceError({
  operation,
  reason: new RateLimited({
    detail: `it sends as many files of imports as it may, ${amountOf(limitsOfAccount)}. Send this one when another has arrived.`,
    retryAfter
  })
})

const serviceIsFull = new ServiceError({
  operation,
  reason: new Unavailable({
    detail: `it receives as many files of imports as it can hold, ${amountOf(limitsOfAll)}`,
    retryAfter
  })
})

interface Held {
  uploads: number
  bytes: number
}

const hasCapacity = (held: Held, limits: UploadLimits, uploads: number, bytes: number): boolean =>
  held.uploads + uploads <= limits.uploads && held.bytes + bytes <= limits.gibibytes * 1024 ** 3

/** Makes the count of the files that a service receives. */
export const makeUploadLimits = () => {
  const all: Held = { uploads: 0, bytes: 0 }
  const byAccount = new Map<string, Held>()

  const change = (account: string, uploads: number, bytes: number): void => {
    const own = byAccount.get(account) ?? { uploads: 0, bytes: 0 }
    byAccount.set(account, own)
    for (const held of [all, own]) {
      held.uploads += uploads
      held.bytes += bytes
    }
    if (own.uploads === 0) byAccount.delete(account)
  }

  /** Counts what there is room for. */
  const admit = (account: string, uploads: number, bytes: number): Effect.Effect<void, ServiceError> =>
    Effect.suspend(() => {
      const own = byAccount.get(account)
      if (own !== undefined && !hasCapacity(own, limitsOfAccount, uploads, bytes)) return Effect.fail(accountIsFull)
      if (!hasCapacity(all, limitsOfAll, uploads, bytes)) return Effect.fail(serviceIsFull)
      return Effect.sync(() => change(account, uploads, bytes))
    })

  /** Counts a file until the scope ends: the bytes that were announced, and then those that come beyond them. */
  return Effect.fnUntraced(function* (account: string, announced: number) {
    let counted = announced
    yield* Effect.acquireRelease(admit(account, 1, announced), () => Effect.sync(() => change(account, -1, -counted)))
    let received = 0
    /** Counts bytes that have arrived. */
    return (bytes: number) =>
      Effect.suspend(() => {
        received += bytes
        const further = received - counted
        if (further <= 0) return Effect.void
        return Effect.tap(admit(account, 0, further), () =>
          Effect.sync(() => {
            counted += further
          })
        )
      })
  })
}
