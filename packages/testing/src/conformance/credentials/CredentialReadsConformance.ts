/** On every layer, credentials that are read after a write are what was written, also where they were read just before. */
import { type AccessLevel, type ApiKeyPayload, CredentialsService } from "@roster/domain"
import { Effect, Predicate } from "effect"
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { place } from "../cases/Place.ts"
import { apiKeys, type Credential, type Kind, millis, type NamedFields, ranges, smtp, soon } from "./CredentialKind.ts"

/** Credentials of the account itself, which are deleted when the case ends: it has room for few. */
const arrangeOwn = <Payload extends NamedFields>(kind: Kind<Payload>) =>
  Effect.gen(function* () {
    const credentials = kind.of(yield* CredentialsService)
    const name = kind.names(place().domain)
    const [one, other, third] = [name("one"), name("other"), name("third")]
    yield* Effect.addFinalizer(() =>
      Effect.forEach([one, other, third], (each) => Effect.ignore(credentials.delete(each)), { discard: true })
    )
    yield* credentials.create(kind.payload(one))
    yield* credentials.create(kind.payload(other))
    return { credentials, one, other, third, all: [one, other, third] }
  })

type Own<Payload extends NamedFields> = Effect.Success<ReturnType<typeof arrangeOwn<Payload>>>

const seen = (found: ReadonlyArray<Credential>) =>
  found.map(({ expires, ipRanges, name }) => [name, millis(expires), ipRanges ?? []] as const)

/** What reads need, which is the same of both kinds. */
interface Readable {
  readonly credentials: Pick<ReturnType<Kind<never>["of"]>, "get" | "list">
  readonly all: ReadonlyArray<string>
}

const reads: Readonly<Record<string, (own: Readable) => Effect.Effect<ReturnType<typeof seen>, unknown>>> = {
  get: ({ all, credentials }) =>
    Effect.map(
      Effect.forEach(all, (name) =>
        Effect.catchTag(credentials.get(name), "CredentialNotFound", () => Effect.undefined)
      ),
      (found) => seen(found.filter(Predicate.isNotUndefined))
    ),
  list: ({ all, credentials }) =>
    Effect.map(credentials.list(), (listed) =>
      // Of the account's credentials only those of the case, in the order of their names.
      seen(all.flatMap((name) => listed.filter((credential) => credential.name === name)))
    )
}

const fresh = (name: string) => [name, null, []] as const

const ofKind = <Payload extends NamedFields>(
  title: string,
  kind: Kind<Payload>,
  it: Cases<CredentialsService>
): void => {
  /** Writes, with what is there afterwards. */
  const writes: Readonly<Record<string, (own: Own<Payload>) => Effect.Effect<unknown, unknown>>> = {
    create: ({ credentials, one, other, third }) =>
      Effect.as(credentials.create(kind.payload(third)), [one, other, third].map(fresh)),
    update: ({ credentials, one, other }) =>
      Effect.as(credentials.update(one, kind.payload(one, { expires: soon, ipRanges: ranges })), [
        [one, millis(soon), ranges],
        fresh(other)
      ]),
    rename: ({ credentials, one, other, third }) =>
      Effect.as(credentials.update(one, kind.payload(third)), [other, third].map(fresh)),
    delete: ({ credentials, one, other }) => Effect.as(credentials.delete(one), [fresh(other)])
  }
  it.describe(`credentials: reads of ${title} after writes`, () => {
    for (const [what, read] of Object.entries(reads)) {
      for (const [name, write] of Object.entries(writes)) {
        it.effect(`${what} after ${name}`, () =>
          Effect.gen(function* () {
            const own = yield* arrangeOwn(kind)
            assert.deepStrictEqual(yield* read(own), [own.one, own.other].map(fresh), "before")
            const after = yield* write(own)
            assert.deepStrictEqual<unknown>(yield* read(own), after, "after")
          })
        )
      }
    }
  })
}

export const credentialReadsConformance = (it: Cases<CredentialsService>): void => {
  ofKind("API keys", apiKeys, it)
  ofKind("SMTP credentials", smtp, it)

  it.describe("credentials: reads of access levels after writes", () => {
    for (const what of ["get", "list"] as const) {
      it.effect(`${what} after other levels were given`, () =>
        Effect.gen(function* () {
          const { one } = yield* arrangeOwn(apiKeys)
          const { apiKeys: keys } = yield* CredentialsService
          const levels = Effect.gen(function* () {
            const key = what === "get" ? yield* keys.get(one) : (yield* keys.list()).find(({ name }) => name === one)
            return [...(key?.accessLevels ?? [])].sort()
          })
          assert.deepStrictEqual<unknown>(yield* levels, ["ViewContacts"])
          for (const accessLevels of [["Export", "ViewContacts"], ["Security"], []] satisfies ReadonlyArray<
            ReadonlyArray<AccessLevel>
          >) {
            const payload: ApiKeyPayload = { ...apiKeys.payload(one), accessLevels }
            yield* keys.update(one, payload)
            assert.deepStrictEqual<unknown>(yield* levels, accessLevels)
          }
        })
      )
    }
  })
}
