/** Deletes from an account what cases made in it, and nothing else. */
import {
  ContactFilter,
  ContactsService,
  type CredentialOperations,
  CredentialsService,
  RuleText,
  ServiceError,
  type SubaccountScope,
  TaggedError
} from "@roster/domain"
import { Array as Arr, Effect, Result, Schema, Stream } from "effect"
import { placesDomain } from "../cases/Place.ts"

/** The rule that selects the contacts of all places. */
const placesRule = RuleText.make(`email ends-with '.${placesDomain}'`)

/** Something that the cases made is still in the account. */
export class NotCleanedUp extends TaggedError<NotCleanedUp>()("NotCleanedUp", {
  /** What is left and why, in words. */
  left: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The account was not cleaned up. Still there: ${this.left.join("; ")}.`
  }
}

/** How often contacts are looked for and deleted: rows of an import may arrive after its case has ended. */
export const cleanUpRounds = 5

/** What a creation or a change of either kind may give. */
interface Named extends SubaccountScope {
  readonly name?: string | undefined
}

/** The number of contacts that one request deletes. */
const deletedAtOnce = 1000

/** Deletes the contacts of all places by their addresses: a service could read a rule otherwise. */
const deleteContacts = Effect.fnUntraced(function* (contacts: ContactsService["Service"]) {
  for (let round = 0; round < cleanUpRounds; round++) {
    const emails = yield* contacts.stream({ rule: placesRule }).pipe(
      Stream.map(({ email }) => email),
      Stream.filter((email) => email.endsWith(`.${placesDomain}`)),
      Stream.runCollect
    )
    if (!Arr.isReadonlyArrayNonEmpty(emails)) return
    for (const some of Arr.chunksOf(emails, deletedAtOnce)) {
      yield* contacts.deleteMany(ContactFilter.ByEmails({ emails: some }))
    }
  }
  return yield* Effect.fail({ message: "more of them arrive, perhaps from an import" })
})

interface Made extends SubaccountScope {
  readonly kind: "apiKeys" | "smtp"
  readonly name: string
}

/** Whether only a case can have made it: it has a name of a place, or belongs to a subaccount that has one. */
const isOfCase = ({ name, subaccount }: Made): boolean =>
  name.includes(placesDomain) || subaccount?.endsWith(`.${placesDomain}`) === true

const isDenied = (error: unknown): boolean =>
  error instanceof ServiceError && (error.reason._tag === "AccessDenied" || error.reason._tag === "Unauthorized")

/** The credentials that the cases of one run may have made. */
class MadeCredentials {
  readonly #made = new Map<string, Made>()

  readonly #note = <A, E, R>(one: Made, write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const id = JSON.stringify([one.kind, one.name, one.subaccount])
      if (this.#made.has(id) || !isOfCase(one)) return write
      // Noted before the request, whose answer can be lost.
      this.#made.set(id, one)
      return Effect.tapError(write, (error) => Effect.sync(() => isDenied(error) && this.#made.delete(id)))
    })

  /** The operations, which note the names that they are given. */
  readonly noting = <Credential, New, Payload extends Named, Protected, Changes extends Named>(
    kind: Made["kind"],
    operations: CredentialOperations<Credential, New, Payload, Protected, Changes>
  ): CredentialOperations<Credential, New, Payload, Protected, Changes> => {
    const noted = <A, E, R>(payload: Named | null | undefined, write: Effect.Effect<A, E, R>) => {
      // Some cases send what no compiler would let through.
      const { name, subaccount } = payload ?? {}
      return typeof name === "string" && (subaccount === undefined || typeof subaccount === "string")
        ? this.#note({ kind, name, subaccount }, write)
        : write
    }
    return {
      ...operations,
      create: (payload) => noted(payload, operations.create(payload)),
      update: (name, payload) => noted(payload, operations.update(name, payload))
    }
  }

  /** Deletes them, and returns those that are left with the reason. */
  readonly delete = (service: CredentialsService["Service"]) =>
    Effect.map(
      Effect.forEach([...this.#made.values()], ({ kind, name, subaccount }) =>
        service[kind]
          .delete(name, { subaccount })
          .pipe(
            Effect.catchTags({ CredentialNotFound: () => Effect.void, InvalidInput: () => Effect.void }),
            Effect.match({ onSuccess: () => [], onFailure: ({ message }) => [`${name} (${message})`] })
          )
      ),
      (left) => left.flat()
    )
}

/**
 * Runs something with the services and deletes afterwards what it made, also if it fails or is interrupted: contacts at a
 * `place`, and credentials named by one or of a subaccount at one. Lists stay, since no operation deletes them.
 */
export const withCleanUp = <A, E, R>(
  use: Effect.Effect<A, E, R>
): Effect.Effect<
  A,
  E | NotCleanedUp,
  Exclude<Exclude<R, ContactsService>, CredentialsService> | ContactsService | CredentialsService
> =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const credentials = yield* CredentialsService
    const made = new MadeCredentials()
    let hasAdded = false
    const adding = <B, F, S>(write: Effect.Effect<B, F, S>): Effect.Effect<B, F, S> =>
      Effect.suspend(() => {
        hasAdded = true
        return write
      })

    const cleanUp = Effect.gen(function* () {
      const found = hasAdded ? yield* Effect.result(deleteContacts(contacts)) : Result.void
      const left = [
        ...(Result.isFailure(found) ? [`contacts of the rule ${placesRule} (${found.failure.message})`] : []),
        ...(yield* made.delete(credentials))
      ]
      if (left.length > 0) return yield* new NotCleanedUp({ left })
    })
    return yield* use.pipe(
      Effect.provideService(
        ContactsService,
        ContactsService.of({
          ...contacts,
          add: (...given) => adding(contacts.add(...given)),
          addWithoutAnswer: (...given) => adding(contacts.addWithoutAnswer(...given)),
          import: (...given) => adding(contacts.import(...given))
        })
      ),
      Effect.provideService(
        CredentialsService,
        CredentialsService.of({
          apiKeys: made.noting("apiKeys", credentials.apiKeys),
          smtp: made.noting("smtp", credentials.smtp)
        })
      ),
      Effect.onExit(() => cleanUp)
    )
  })
