/** Layers of somebody else in front of a service: the suite fails those that serve what is no longer true. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, type CredentialOperations, CredentialsService } from "@roster/domain"
import { conformance, type ConformanceCase } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { Context, Duration, Effect, type Exit, Layer, Result, Stream } from "effect"
import { longRun } from "../src/simulation/LongRun.ts"
import { layerMemory } from "../src/index.ts"

const writes = [
  "add",
  "addWithoutAnswer",
  "update",
  "delete",
  "deleteMany",
  "import",
  "create",
  "updateCredential",
  "deleteCredential"
] as const
type Write = (typeof writes)[number]

/** What was answered to the calls so far, by the call. */
class Answers {
  #kept = new Map<string, { readonly exit: unknown; readonly until: number }>()
  readonly #forgetsOn: ReadonlySet<Write>
  readonly #maximumAge: number

  constructor(forgetsOn: ReadonlyArray<Write>, maximumAge: Duration.Input) {
    this.#forgetsOn = new Set(forgetsOn)
    this.#maximumAge = Duration.toMillis(maximumAge)
  }

  readonly read = <A, E>(call: unknown, answer: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const key = JSON.stringify(call)
      const found = this.#kept.get(key)
      // Each call is kept with its own answer.
      if (found !== undefined && performance.now() < found.until) return found.exit as Exit.Exit<A, E>
      return Effect.flatMap(Effect.exit(answer), (exit) => {
        this.#kept.set(key, { exit, until: performance.now() + this.#maximumAge })
        return exit
      })
    })

  readonly write = <A, E>(write: Write, call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.ensuring(
      call,
      Effect.sync(() => {
        if (this.#forgetsOn.has(write)) this.#kept.clear()
      })
    )
}

const cachedCredentials = <Credential, New, Payload, Protected, Changes>(
  kind: string,
  of: CredentialOperations<Credential, New, Payload, Protected, Changes>,
  { read, write }: Answers
): CredentialOperations<Credential, New, Payload, Protected, Changes> => ({
  list: (scope) => read([kind, "list", scope], of.list(scope)),
  get: (name, scope) => read([kind, "get", name, scope], of.get(name, scope)),
  create: (payload) => write("create", of.create(payload)),
  update: (name, payload) => write("updateCredential", of.update(name, payload)),
  delete: (name, scope) => write("deleteCredential", of.delete(name, scope))
})

/** A cache in front of the service in memory, which forgets all that it has on some writes. */
const cached = (forgetsOn: ReadonlyArray<Write>, maximumAge: Duration.Input) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const answers = new Answers(forgetsOn, maximumAge)
      const { read, write } = answers
      const contacts = yield* ContactsService
      const credentials = yield* CredentialsService
      const context = yield* Effect.context<ContactsService | CredentialsService>()
      return context.pipe(
        Context.add(
          ContactsService,
          ContactsService.of({
            ...contacts,
            get: (email) => read(["get", email], contacts.get(email)),
            list: (page) => read(["list", page], contacts.list(page)),
            stream: (from) =>
              Stream.unwrap(
                Effect.map(read(["stream", from], Stream.runCollect(contacts.stream(from))), Stream.fromIterable)
              ),
            add: (some, options) => write("add", contacts.add(some, options)),
            addWithoutAnswer: (some, options) => write("addWithoutAnswer", contacts.addWithoutAnswer(some, options)),
            update: (email, changes) => write("update", contacts.update(email, changes)),
            delete: (email) => write("delete", contacts.delete(email)),
            deleteMany: (filter) => write("deleteMany", contacts.deleteMany(filter)),
            import: (source, options) => write("import", contacts.import(source, options))
          })
        ),
        Context.add(
          CredentialsService,
          CredentialsService.of({
            apiKeys: cachedCredentials("apiKeys", credentials.apiKeys, answers),
            smtp: cachedCredentials("smtp", credentials.smtp, answers)
          })
        )
      )
    })
  ).pipe(Layer.provide(layerMemory))

const cases: ReadonlyArray<ConformanceCase<ContactsService | CredentialsService>> = [
  ...conformance.contacts(),
  ...conformance.credentials()
]

/** The reads, but for exports: each of them is a new file, so no cache keeps one. */
const reads = cases.filter(({ area, name }) => area.includes("reads") && !name.startsWith("export"))

/** The names of the cases that fail. Those of imports wait for what never comes, and are given up soon. */
const failing = (services: ReturnType<typeof cached>, of: RegExp) =>
  Effect.map(
    Effect.forEach(
      reads.filter(({ name }) => of.test(name)),
      ({ area, name, run }) =>
        Effect.map(Effect.result(name.endsWith("import") ? Effect.timeout(run, "2 seconds") : run), (result) =>
          Result.isFailure(result) ? [`${area}: ${name}`] : []
        ),
      { concurrency: 50 }
    ),
    (names) => names.flat()
  ).pipe(Effect.provide(services))

describe("the conformance suite", () => {
  it.live("fails a cache that forgets nothing on writes, for each pair of a read and a write", () =>
    Effect.gen(function* () {
      const failed = yield* failing(cached([], Duration.infinity), /./)
      assert.isAtLeast(failed.length, 8)
      assert.deepStrictEqual(
        failed,
        reads.map(({ area, name }) => `${area}: ${name}`)
      )
    })
  )

  it.live.each(writes)("fails a cache that forgets nothing on %s alone", (write) =>
    Effect.gen(function* () {
      const others = writes.filter((other) => other !== write)
      assert.isAtLeast((yield* failing(cached(others, Duration.infinity), /^(get|list) after/)).length, 2)
    })
  )
})

// A normal run tries one in examples/test/testing/conformance.test.ts.
describe.skipIf(!longRun)("(nightly)", () => {
  // Nobody is told when the rows of an import are there, so a cache may keep nothing for long.
  testConformance("a cache that forgets on every write", cases, cached(writes, "50 millis"))
})
