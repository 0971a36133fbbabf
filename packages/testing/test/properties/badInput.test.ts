/**
 * The store used directly and the client in front of a server say the same of whatever they are given: the same answer, or
 * the same refusal in the same words. What they are given is right but for some fields, which hold anything.
 */
import { afterAll, assert, describe, layer } from "@effect/vitest"
import {
  type Contact,
  ContactsService,
  CredentialsService,
  EmailAddress,
  EmailsService,
  InvalidInput,
  IpRange
} from "@roster/domain"
import { Arbitrary, Cause, Context, DateTime, Effect, Exit, Layer, Schema } from "effect"
import { apiKeys, type Kind, type NamedFields, smtp } from "../../src/conformance/credentials/CredentialKind.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { layerEmbedded, layerMemory } from "../../src/index.ts"

type Services = Context.Context<ContactsService | CredentialsService | EmailsService>

class Both extends Context.Service<Both, { readonly direct: Services; readonly served: Services }>()(
  "@roster/testing/test/Both"
) {
  static readonly layer = Layer.effect(
    Both,
    Effect.gen(function* () {
      return { direct: yield* Layer.build(layerMemory), served: yield* Layer.build(layerEmbedded) }
    })
  )
}

const seed = runSeed("bad input")
const property = {
  arbitrary: { runs: amount({ ci: 150, long: 5000 }), seed },
  timeout: amount({ ci: 120_000, long: 3_600_000 })
}

class Row {
  readonly firstName = "of a class"
}

/** What a field may hold. */
const values: ReadonlyArray<unknown> = [
  undefined,
  null,
  "",
  " ",
  "Ada",
  "Active",
  "Allow",
  "Hibernating",
  "ada@example.com",
  " ada@example.com",
  "ada@@example.com",
  "192.0.2.0/24",
  "2024-02-29T23:59:59Z",
  "a\0b",
  "\ud800",
  0,
  7,
  -0,
  1.5,
  Number.NaN,
  10n,
  true,
  Symbol("a"),
  () => "Ada",
  [],
  ["Ada"],
  ["ViewContacts"],
  ["ViewContacts", "Hibernating"],
  [null],
  [undefined],
  ["192.0.2.0/24"],
  [{}],
  {},
  { city: "Oslo" },
  { city: 7 },
  { city: undefined },
  { city: null },
  { Email: "x" },
  { "": "blank" },
  { email: "of no other column" },
  Object.assign(Object.create({ inherited: "x" }), { city: "Oslo" }),
  Object.fromEntries([["__proto__", "a"]]),
  { toJSON: () => "b" },
  new Date(0),
  new Map([["city", "Oslo"]]),
  new Row(),
  DateTime.makeUnsafe("2024-02-29T23:59:59.999Z"),
  DateTime.makeUnsafe("2099-02-28T23:59:59Z"),
  DateTime.makeUnsafe(253_402_300_800_000),
  DateTime.makeZonedUnsafe("2099-01-02T03:04:05Z", { timeZone: "Europe/Berlin" })
]

type Fields = Readonly<Record<string, unknown>>

const Choice = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))
const choices = Arbitrary.array(Arbitrary.schema(Choice), { minLength: 40, maxLength: 40 })

/** Gives the choices one after another, and zeros behind the last. */
const makeVary = (choices: ReadonlyArray<number>) => {
  let at = 0
  const next = () => choices[at++] ?? 0
  const often = 4 + (next() % 20)
  /** The fields as they are, but for some that are left out or hold something else. */
  const vary = (fields: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
        const choice = next()
        if (choice % often > 1) return [[name, value]]
        return choice % often === 0 ? [] : [[name, values[next() % values.length]]]
      })
    )
  return vary
}

/** As a caller in plain JavaScript hands it over. */
const unchecked = <A>(value: unknown): A => value as A

const consentOf = (vary: (fields: Fields) => Fields) =>
  vary({ ip: "192.0.2.1", date: DateTime.makeUnsafe("2021-01-01T12:00:00Z"), tracking: "Allow" })

const contactOf = (choices: ReadonlyArray<number>, email: string): Fields => {
  const vary = makeVary(choices)
  const consent = consentOf(vary)
  const customFields = vary({ city: "London", age: "34" })
  return vary({ email, status: "Stale", firstName: "Ada", lastName: "Lovelace", customFields, consent, unknown: 1 })
}

const keyOf = (choices: ReadonlyArray<number>, name: string): Fields =>
  makeVary(choices)({
    name,
    accessLevels: ["ViewContacts"],
    expires: DateTime.makeUnsafe("2099-01-02T03:04:05Z"),
    ipRanges: [IpRange.make("192.0.2.0/24")],
    subaccount: "sub@example.com"
  })

const messageOf = (choices: ReadonlyArray<number>): Fields => {
  const vary = makeVary(choices)
  const content = vary({
    from: "john@example.com",
    body: [vary({ contentType: "PlainText", content: "Hi", charset: "utf-8" })],
    merge: { a: "b" },
    attachments: [vary({ binaryContent: "SGk=", name: "hi.txt", contentType: "text/plain", size: 2 })],
    headers: { "X-Campaign": "spring" },
    replyTo: "jane@example.com",
    attachFiles: ["a"],
    utm: vary({ source: "s", medium: "m", campaign: "c", content: "x" })
  })
  const options = vary({ timeOffset: 1, poolName: "p", encoding: "utf-8", trackOpens: true, trackClicks: null })
  const recipients = [vary({ email: "someone@elsewhere.test", fields: { name: "S" } })]
  return vary({ recipients, content, options })
}

let answered = 0
let refusals = 0
afterAll(() => process.stdout.write(`bad input: ${answered} answered, ${refusals} refused\n`))

/** An answer without what each store says for itself, or what was said against the input. */
const seen = <A>(exit: Exit.Exit<A, { readonly _tag: string; readonly message: string }>) =>
  Exit.match(exit, {
    onSuccess: (value) => {
      answered++
      const json = JSON.stringify(value, (name, inner: unknown) =>
        /^(?:dateAdded|dateUpdated|statusChangeDate|dateCreated|token|transactionId|messageId)$/.test(name)
          ? undefined
          : inner
      )
      // As a value, since the order of names means nothing.
      const shown: unknown = json === undefined ? undefined : JSON.parse(json)
      return shown
    },
    onFailure: (cause) => {
      const error = cause.reasons.find(Cause.isFailReason)?.error
      if (error === undefined) return assert.fail(`it died: ${Cause.pretty(cause)}`)
      refusals++
      return error instanceof InvalidInput ? `${error.field}: ${error.issue}` : `${error._tag} ${error.message}`
    }
  })

const alike = Effect.fnUntraced(function* <A>(
  call: Effect.Effect<
    A,
    { readonly _tag: string; readonly message: string },
    ContactsService | CredentialsService | EmailsService
  >
) {
  const { direct, served } = yield* Both
  const ofDirect = yield* Effect.exit(Effect.provideContext(call, direct))
  const ofServed = yield* Effect.exit(Effect.provideContext(call, served))
  assert.deepStrictEqual(seen(ofDirect), seen(ofServed))
})

/** Makes credentials and changes them, and deletes whatever came of it. */
const credentialsAlike = Effect.fnUntraced(function* <Payload extends NamedFields>(
  kind: Kind<Payload>,
  name: string,
  first: Fields,
  second: Fields
) {
  const using = <A, E>(use: (credentials: ReturnType<Kind<Payload>["of"]>) => Effect.Effect<A, E>) =>
    Effect.flatMap(CredentialsService, (service) => use(kind.of(service)))
  yield* alike(using((credentials) => credentials.create(unchecked(first))))
  yield* alike(using((credentials) => credentials.update(name, unchecked(second))))
  const { direct } = yield* Both
  for (const of of [{}, { subaccount: EmailAddress.make("sub@example.com") }]) {
    const left = yield* Effect.provideContext(
      using((credentials) => credentials.list(of)),
      direct
    )
    yield* alike(using((credentials) => credentials.list(of)))
    for (const { name } of left) yield* alike(using((credentials) => credentials.delete(name, of)))
  }
})

let made = 0

layer(Both.layer, { excludeTestServices: true, timeout: "60 seconds" })("input of any form", (it) => {
  describe("is taken or refused alike", () => {
    it.effect.prop(
      "as contacts to add, one by one or in a batch",
      [choices, choices],
      ([one, other]) =>
        Effect.gen(function* () {
          const domain = `b${++made}.example`
          const some = [contactOf(one, `one@${domain}`), contactOf(other, `other@${domain}`)]
          const contacts = Effect.service(ContactsService)
          yield* alike(Effect.flatMap(contacts, (service) => service.add(unchecked(some))))
          yield* alike(Effect.flatMap(contacts, (service) => service.addWithoutAnswer(unchecked(some))))
          const all = (service: ContactsService["Service"]) =>
            Effect.map(service.list({ limit: 1000 }), (all: ReadonlyArray<Contact>) =>
              all.filter(({ email }) => email.endsWith(domain))
            )
          yield* alike(Effect.flatMap(contacts, all))
          for (const { email } of some) {
            if (typeof email === "string") yield* alike(Effect.flatMap(contacts, (it) => it.delete(email)))
          }
        }),
      property
    )

    it.effect.prop(
      "as a change of a contact",
      [choices],
      ([choices]) =>
        Effect.gen(function* () {
          const email = "changed@example.com"
          yield* alike(Effect.flatMap(ContactsService, (it) => it.add([unchecked({ email, firstName: "A" })])))
          const [readOnly = 0] = choices
          const left = ["email", "status", "consent", "unknown"].filter((_, bit) => (readOnly >> bit) % 8 !== 0)
          const given = Object.entries({ ...contactOf(choices, email), source: undefined })
          const change = Object.fromEntries(given.filter(([name]) => !left.includes(name)))
          yield* alike(Effect.flatMap(ContactsService, (it) => it.update(email, unchecked(change))))
          yield* alike(Effect.flatMap(ContactsService, (it) => it.delete(email)))
        }),
      property
    )

    it.effect.prop(
      "as credentials to make or to change",
      [choices, choices],
      ([one, other]) =>
        Effect.gen(function* () {
          yield* credentialsAlike(apiKeys, "k", keyOf(one, "k"), keyOf(other, "k"))
          yield* credentialsAlike(smtp, "k@example.com", keyOf(one, "k@example.com"), keyOf(other, "k@example.com"))
        }),
      property
    )

    it.effect.prop(
      "as a message",
      [choices],
      ([choices]) => alike(Effect.flatMap(EmailsService, (it) => it.send(unchecked(messageOf(choices))))),
      property
    )
  })
})
