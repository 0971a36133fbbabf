/**
 * The addresses that an import has read, in lists beside its job, so that repeats are counted even after a restart. A
 * Bloom filter rules out most; an indexed table would make a million rows 1.28 times as expensive.
 */
import { Effect, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { partLengths } from "../queue/JobBlobs.ts"
import { dialect } from "../../store/SqlDialect.ts"

/** In powers of two of bits, at most 16 MiB: with a million addresses, one in ten million is a false positive. */
const filterSizes = { least: 13, most: 27 }

/** The bits of an address are in one block, for one cache miss instead of several. */
const blockBits = 9

/** Each picks a bit of the block by its product with the hash, as in the filters of Parquet. */
const salts = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b]

/** Makes a filter for a file of this size; it adds an identity and says whether it may have been added before. */
export const makeEmailFilter = (fileBytes: number) => {
  // A bit for each bit of the file: hundreds for each row.
  const wanted = Math.ceil(Math.log2(fileBytes * 8 + 1))
  const size = Math.min(Math.max(wanted, filterSizes.least), filterSizes.most)
  const words = new Uint32Array(2 ** size / 32)
  return (identity: string): boolean => {
    // FNV-1a, and a variant with another start and multiplier: together 64 bits.
    let [one, other] = [0x811c9dc5, 0x9747b28c]
    for (let i = 0; i < identity.length; i++) {
      const code = identity.charCodeAt(i)
      one = Math.imul(one ^ code, 0x01000193)
      other = Math.imul(other ^ code, 0x5bd1e995)
    }
    one ^= one >>> 15
    other ^= other >>> 13
    const block = (one >>> (32 - size + blockBits)) << (blockBits - 5)
    let isKnown = true
    for (const salt of salts) {
      const place = Math.imul(other, salt) >>> (32 - blockBits)
      const bit = 1 << (place & 31)
      const at = block + (place >>> 5)
      const word = words[at] ?? 0
      if ((word & bit) === 0) {
        isKnown = false
        words[at] = word | bit
      }
    }
    return isKnown
  }
}

const decodeList = Schema.decodeSync(Schema.fromJsonString(Schema.Array(Schema.String)))

/** Possible repeats to hold, so that only they have to be counted and sorted. */
const maximumSuspects = 10_000

/** Restores the filter of a job and its possible repeats, up to `maximumSuspects`. */
export const restoreEmailFilter = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const lengths = yield* partLengths(job)
  const mayBeKnown = makeEmailFilter(lengths.reduce((sum, length) => sum + length, 0))
  const suspects = new Set<string>()
  const isKnown = (identity: string): boolean => {
    if (!mayBeKnown(identity)) return false
    if (suspects.size < maximumSuspects) suspects.add(identity)
    return true
  }
  yield* sql<{ readonly identities: string }>`SELECT identities FROM job_address_lists WHERE job = ${job}`.stream.pipe(
    Stream.runForEach(({ identities }) => Effect.sync(() => decodeList(identities).forEach(isKnown)))
  )
  return { isKnown, suspects }
})

/** Notes the identities of some rows. Runs in the transaction of the rows. */
export const recordEmails = Effect.fnUntraced(function* (job: number, identities: ReadonlyArray<string>) {
  if (identities.length === 0) return
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO job_address_lists ${sql.insert({ job, identities: JSON.stringify(identities) })}`
})

/** The exact number of rows that repeat an earlier one, given the suspects of the filter. */
export const countRepeats = Effect.fnUntraced(function* (job: number, suspects: ReadonlySet<string>) {
  if (suspects.size === 0) return 0
  const sql = yield* SqlClient.SqlClient
  const suspected =
    suspects.size < maximumSuspects ? sql`AND value IN (${dialect(sql).textsOf([...suspects])})` : sql.literal("")
  const [row] = yield* sql<{ readonly repeats: number }>`
    SELECT coalesce(sum(times - 1), 0) AS repeats FROM (
      SELECT count(*) AS times FROM job_address_lists, ${dialect(sql).textsIn("identities")}
      WHERE job = ${job} ${suspected} GROUP BY value
    ) AS counted`
  return Number(row?.repeats ?? 0)
})
