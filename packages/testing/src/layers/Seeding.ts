/** Fills a service with contacts before a test: those of a CSV file, or generated ones. */
import { type ContactPayload, ContactsService, maximumContactsPerAdd, readContacts, TaggedError } from "@roster/domain"
import { Arbitrary, Array as Arr, Effect, Layer, Schema, Stream } from "effect"
import { awkwardContacts } from "../properties/AwkwardContacts.ts"

/** A row of the CSV file of a seed is no contact. Nothing was added. */
export class InvalidSeed extends TaggedError<InvalidSeed>()("InvalidSeed", {
  line: Schema.Int,
  problem: Schema.String
}) {
  override get message(): string {
    return `Line ${this.line} of the seed is no contact: ${this.problem}`
  }
}

/** Adds contacts, any number of them. */
export const seedContacts = Effect.fnUntraced(function* (contacts: ReadonlyArray<ContactPayload>) {
  const service = yield* ContactsService
  yield* Effect.forEach(Arr.chunksOf(contacts, maximumContactsPerAdd), (some) => service.addWithoutAnswer(some), {
    discard: true
  })
  return contacts
})

/** Adds the contacts of a CSV file, whose text or bytes are given, and returns them. */
export const seedCsv = Effect.fnUntraced(function* <E = never, R = never>(
  csv: string | Stream.Stream<Uint8Array, E, R>
) {
  const context = yield* Effect.context<R>()
  const bytes =
    typeof csv === "string" ? Stream.make(new TextEncoder().encode(csv)) : Stream.provideContext(csv, context)
  const contacts = yield* readContacts<E>(bytes).pipe(
    Stream.mapEffect(({ contact, line }) =>
      Effect.mapError(Effect.fromResult(contact), (problem) => new InvalidSeed({ line, problem }))
    ),
    Stream.runCollect
  )
  return yield* seedContacts(contacts)
})

/** How contacts are generated. */
export interface GeneratedContacts {
  /** The number of contacts (default: 100). */
  readonly count?: number | undefined
  /** The same seed gives the same contacts (default: a new one). */
  readonly seed?: string | number | undefined
}

/** Adds generated contacts with distinct addresses and awkward texts, and returns them. */
export const seedGenerated = Effect.fnUntraced(function* ({ count = 100, seed }: GeneratedContacts = {}) {
  const all = awkwardContacts({ minLength: count, maxLength: count })
  const [contacts = []] = yield* Effect.orDie(Arbitrary.sampleEffect(all, { count: 1, seed }))
  return yield* seedContacts(contacts)
})

/** Fills a service while its layer is built: `layerMemory().pipe(seeded(seedCsv("email\nann@example.com")))`. */
export const seeded =
  <A, SeedError, Needs>(seed: Effect.Effect<A, SeedError, Needs>) =>
  <Services, E, R>(services: Layer.Layer<Services | ContactsService, E, R>) =>
    Layer.flatMap(services, (context) => Layer.effectContext(Effect.as(Effect.provideContext(seed, context), context)))
