/** How a file is probably read that cannot be read as it is: what its errors propose, tried against the file itself. */
import { Effect, Stream } from "effect"
import { readContacts } from "../csv/ContactCsv.ts"
import { type ImportMapping, mergeMappings } from "../csv/ImportMapping.ts"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import { UnreadableFile } from "../csv/TextDecoding.ts"

/** How a file is probably read. */
export interface LikelyReading {
  /** What was said of it, and what was found. */
  readonly mapping: ImportMapping
  /** Whether it can be read so. */
  readonly isRead: boolean
}

const proposalOf = ({ encoding, header, likelyFields, skipLines }: UnreadableFile): ImportMapping => ({
  ...(encoding === undefined ? {} : { encoding }),
  ...(skipLines === undefined ? {} : { skipLines }),
  ...(header === undefined ? {} : { header }),
  ...(likelyFields === undefined ? {} : { columns: likelyFields })
})

/** What is asked of a trial. */
export interface TrialOptions {
  /** What stays as it is, whatever is proposed (default: nothing). */
  readonly kept?: ImportMapping
  /** The number of rows that are read (default: all). */
  readonly rows?: number
}

/** Tries what each error proposes, beside what is said already, until the file can be read or nothing more is proposed. */
export const likelyReading = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  mapping: ImportMapping,
  options: TrialOptions = {}
): Effect.Effect<LikelyReading, E | InvalidInput> => {
  const { kept = {}, rows = Infinity } = options
  return Stream.runDrain(Stream.take(readContacts(bytes, mapping), rows)).pipe(
    Effect.as<LikelyReading>({ mapping, isRead: true }),
    Effect.catch((error) => {
      if (!(error instanceof UnreadableFile)) return Effect.fail(error)
      const more = mergeMappings(mergeMappings(mapping, proposalOf(error)), kept)
      return JSON.stringify(more) === JSON.stringify(mapping)
        ? Effect.succeed({ mapping, isRead: false })
        : likelyReading(bytes, more, options)
    })
  )
}
