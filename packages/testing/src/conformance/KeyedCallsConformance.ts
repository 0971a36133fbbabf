/** What every layer promises of a call with an idempotency key of the caller's own: it is carried out once. */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  type ChangeAnswer,
  type ConflictingFilter,
  ContactFilter,
  ContactsService,
  type CredentialsService,
  EmailMessage,
  EmailsService,
  CallName,
  IdempotencyKeyInUse,
  type IdempotencyKeyReused,
  type InvalidInput,
  type InvalidRule,
  type KeyedCall,
  maximumIdempotencyKey,
  type NameTaken,
  type NotAllowedSender,
  type ServiceError,
  type TooManyContacts,
  type TooManyCredentials
} from "@roster/domain"
import { Duration, Effect, Redacted } from "effect"
import { place } from "./cases/Place.ts"
import { apiKeys, arrange, type Kind, type NamedFields, smtp, soon } from "./credentials/CredentialKind.ts"
import { refused } from "./cases/Refused.ts"
import { noTexts, unchecked } from "./cases/Unchecked.ts"

type Call = Effect.Effect<
  unknown,
  | ConflictingFilter
  | IdempotencyKeyInUse
  | IdempotencyKeyReused
  | InvalidInput
  | InvalidRule
  | NameTaken
  | NotAllowedSender
  | ServiceError
  | TooManyContacts
  | TooManyCredentials
>

const keyOf = () => ({ idempotencyKey: crypto.randomUUID() })

const mail = (subject: string) =>
  EmailMessage.make({
    recipients: [{ email: "someone@elsewhere.test" }],
    content: { from: "john@example.com", subject, body: [{ contentType: "PlainText", content: "Hi" }] }
  })

const area = "calls with an idempotency key of the caller's own"

/** Asserts that the call is refused because of its key. */
const keyRefused = Effect.fnUntraced(function* (call: Call, words: string) {
  const error = yield* refused(call, "InvalidInput")
  assert.strictEqual(error.field, "idempotencyKey")
  assert.include(error.message, words)
})

/** Asserts that the key of the call is that of another one. */
const keyReused = (call: Call) => refused(call, "IdempotencyKeyReused")

/** Asserts that the calls, which no compiler would let through, are refused alike with a key and without one. */
const refusedAlike = Effect.fnUntraced(function* (calls: ReadonlyArray<(options?: KeyedCall) => Call>) {
  for (const call of calls) {
    const plain = yield* refused(call(), "InvalidInput")
    const keyed = yield* refused(call(keyOf()), "InvalidInput")
    assert.deepStrictEqual([keyed.field, keyed.issue], [plain.field, plain.issue])
  }
})

/** Makes a call until the service takes it for a repetition. */
const untilRepeated = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
  call.pipe(
    Effect.tapError((error) =>
      error instanceof IdempotencyKeyInUse ? Effect.sleep(Duration.seconds(error.retryAfter)) : Effect.void
    ),
    Effect.retry({ while: (error) => error instanceof IdempotencyKeyInUse, times: 2 })
  )

const longestKey = () => crypto.randomUUID().padEnd(maximumIdempotencyKey, "~")

/** Texts and other values that are no keys. */
const noKeys = () =>
  [`${longestKey()}~`, "", "two words", "a\nb", "ключ", "\u007f", ...noTexts].map((value) => unchecked<string>(value))

export const keyedContactCallsConformance = (it: Cases<ContactsService>): void => {
  it.describe(area, () => {
    it.effect("add: the same call again returns the first result, and changes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email } = place()
        const options = { ...keyOf(), listNames: [`${domain} list`] }
        const some = [
          // Names of which JSON.parse takes the second for the first.
          { email: email("ada"), firstName: "Ada", customFields: { city: "Łódź", "5\\": "1" } },
          { email: email("bob"), consent: { tracking: "Allow" }, customFields: { city: "Łódź", '5"': "1" } }
        ] as const
        const first = yield* contacts.add(some, options)
        yield* contacts.update(email("ada"), { firstName: "Changed" })
        assert.deepStrictEqual(yield* contacts.add(some, options), first)
        assert.strictEqual((yield* contacts.get(email("ada"))).firstName, "Changed")
        yield* contacts.add(some, { ...options, ...keyOf() })
        assert.strictEqual((yield* contacts.get(email("ada"))).firstName, "Ada")
      })
    )

    it.effect("addWithoutAnswer: the same, for contacts of any kind", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const some = [{ email: email("ada"), firstName: "Ada" }]
        for (const kind of [some, new Set(some)]) {
          const options = keyOf()
          yield* contacts.addWithoutAnswer(kind, options)
          yield* contacts.update(email("ada"), { firstName: "Changed" })
          yield* contacts.addWithoutAnswer(kind, options)
          assert.strictEqual((yield* contacts.get(email("ada"))).firstName, "Changed")
          yield* keyReused(contacts.addWithoutAnswer([{ email: email("other") }], options))
        }
      })
    )

    it.effect("export: the same request again is the same export", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { rule } = place()
        const options = keyOf()
        const request = { filter: ContactFilter.ByRule({ rule }), fileFormat: "Json" } as const
        const first = yield* contacts.export(request, options)
        assert.strictEqual((yield* contacts.export(request, options)).id, first.id)
        assert.notStrictEqual((yield* contacts.export(request, keyOf())).id, first.id)
        assert.notStrictEqual((yield* contacts.export(request)).id, first.id)
      })
    )

    it.effect("change: the same changes again are answered as the first time, and a dry run uses no key", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const ada = place().email("ada")
        const options = keyOf()
        const changes = [
          { email: ada, seen: null, write: { firstName: "Ada" } },
          { email: ada, seen: { status: "Stale" }, delete: true }
        ] as const
        const changed = (dryRun?: boolean) => contacts.change(changes, { ...options, dryRun })
        const tags = (answers: ReadonlyArray<ChangeAnswer>) => answers.map(({ _tag }) => _tag)
        assert.deepStrictEqual(tags(yield* changed(true)), ["Done", "Outdated"])
        const first = yield* changed()
        assert.deepStrictEqual(tags(first), ["Done", "Outdated"])
        // There the client reads, compares and writes by itself.
        if (first[0]?.exact !== true) return
        assert.deepStrictEqual(yield* changed(), first)
        yield* contacts.update(ada, { firstName: "Changed" })
        assert.deepStrictEqual(yield* changed(), first)
        assert.deepStrictEqual(tags(yield* changed(true)), ["Outdated", "Outdated"])
        assert.strictEqual((yield* contacts.get(ada)).firstName, "Changed")
        yield* keyReused(contacts.change([changes[0]], options))
        yield* keyReused(contacts.add([{ email: ada }], options))
      })
    )

    it.effect("add at the same time: all get the one result", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const options = keyOf()
        const added = yield* Effect.all(
          Array.from({ length: 8 }, () => contacts.add([{ email: email("ada"), firstName: "Ada" }], options)),
          { concurrency: 8 }
        )
        for (const one of added) assert.deepStrictEqual(one, added[0])
      })
    )

    it.effect("another call with the same key is refused, and nothing of it is done", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const options = keyOf()
        const some = [{ email: email("ada") }]
        yield* contacts.add(some, options)
        const others: ReadonlyArray<Call> = [
          contacts.add([{ email: email("bob") }], options),
          contacts.add([...some, { email: email("bob") }], options),
          contacts.add(some, { ...options, listNames: [`${domain} list`] }),
          contacts.export({}, options)
        ]
        for (const other of others) yield* keyReused(other)
        assert.strictEqual((yield* contacts.list({ rule })).length, 1)
      })
    )

    it.effect("input that no compiler would let through is refused as without a key", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* refusedAlike([
          ...[null, 7, { _tag: "ByRule", rule: 7 }, { _tag: "ByEmails", emails: [7] }].map(
            (filter) => (options?: KeyedCall) => contacts.export({ filter: unchecked(filter) }, options)
          ),
          (options) => contacts.add(unchecked([{ email: 7 }]), options),
          (options) => contacts.add([], { ...options, listNames: unchecked([7]) })
        ])
      })
    )

    it.effect("a refused call uses up no key", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const options = keyOf()
        yield* refused(contacts.add([{ email: email("ada"), firstName: "a\0b" }], options), "InvalidInput")
        yield* contacts.add([{ email: email("ada"), firstName: "Ada" }], options)
      })
    )

    it.effect(`a key has 1 to ${maximumIdempotencyKey} visible ASCII characters`, () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const some = [{ email: email("ada") }]
        yield* contacts.add(some, { idempotencyKey: longestKey() })
        yield* contacts.delete(email("ada"))
        for (const idempotencyKey of noKeys()) {
          const calls: ReadonlyArray<Call> = [
            contacts.add(some, { idempotencyKey }),
            contacts.addWithoutAnswer(some, { idempotencyKey }),
            contacts.change([], { idempotencyKey }),
            contacts.export({}, { idempotencyKey })
          ]
          for (const call of calls) yield* keyRefused(call, String(maximumIdempotencyKey))
        }
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )
  })
}

export const keyedEmailCallsConformance = (it: Cases<EmailsService>): void => {
  it.describe(area, () => {
    it.effect("send: the same message again is not sent again, but another one is", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const options = keyOf()
        const first = yield* emails.send(mail("Hello"), options)
        assert.deepStrictEqual(yield* emails.send(mail("Hello"), options), first)
        assert.notStrictEqual((yield* emails.send(mail("Hello"), keyOf())).messageId, first.messageId)
        assert.notStrictEqual((yield* emails.send(mail("Hello"))).messageId, first.messageId)
      })
    )

    it.effect("send at the same time: all get the one result", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const options = keyOf()
        const sent = yield* Effect.all(
          Array.from({ length: 8 }, () => emails.send(mail("Hello"), options)),
          { concurrency: 8 }
        )
        assert.strictEqual(new Set(sent.map(({ messageId }) => messageId)).size, 1)
      })
    )

    it.effect("another message with the same key is refused", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const options = keyOf()
        yield* emails.send(mail("Hello"), options)
        yield* keyReused(emails.send(mail("Goodbye"), options))
      })
    )

    it.effect("a message that no compiler would let through is refused as without a key", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        yield* refusedAlike([(options) => emails.send(unchecked({ recipients: 7 }), options)])
      })
    )

    it.effect("a refused message uses up no key", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const options = keyOf()
        const { content, recipients } = mail("Hello")
        const evil = EmailMessage.make({ recipients, content: { ...content, from: "eve@evil.test" } })
        yield* refused(emails.send(evil, options), "NotAllowedSender")
        yield* emails.send(mail("Hello"), options)
      })
    )

    it.effect(`a key of a message has 1 to ${maximumIdempotencyKey} visible ASCII characters`, () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const longest = { idempotencyKey: longestKey() }
        const one = yield* emails.send(mail("Hello"), longest)
        assert.deepStrictEqual(yield* emails.send(mail("Hello"), longest), one)
        for (const idempotencyKey of noKeys()) {
          yield* keyRefused(emails.send(mail("Hello"), { idempotencyKey }), String(maximumIdempotencyKey))
        }
      })
    )
  })
}

const creationsOf = <Payload extends NamedFields>(
  title: string,
  kind: Kind<Payload>,
  it: Cases<CredentialsService>
) => {
  it.effect(`${title}: the same creation again is the same one, with a new token in place of the first`, () =>
    Effect.gen(function* () {
      const { credentials, name, subaccount } = yield* arrange(kind)
      const options = keyOf()
      const payload = kind.payload(name("a"), { subaccount, expires: soon })
      const asOneCall = Effect.provideService(CallName, crypto.randomUUID())
      const { token: first, ...made } = yield* asOneCall(credentials.create(payload, options))
      const { token: second, ...again } = yield* asOneCall(credentials.create(payload, options))
      assert.deepStrictEqual<unknown>(again, made)
      assert.isFalse(Redacted.value(first) === Redacted.value(second), "the token is the same")
      assert.deepStrictEqual(yield* credentials.list({ subaccount }), [again])
      // To the service it may be a program that was started again.
      const { token: third } = yield* untilRepeated(credentials.create(payload, options))
      assert.isFalse(Redacted.value(third) === Redacted.value(second), "the token is the same")
    })
  )

  it.effect(`${title}: of the same creations of several callers at one time one has the secret`, () =>
    Effect.gen(function* () {
      const { credentials, name, subaccount } = yield* arrange(kind)
      const options = keyOf()
      const payload = kind.payload(name("a"), { subaccount })
      const create = credentials.create(payload, options)
      const ended = yield* Effect.all(
        Array.from({ length: 4 }, () => Effect.result(create)),
        { concurrency: 4 }
      )
      const refusals = ended.flatMap((one) => (one._tag === "Failure" ? [one.failure] : []))
      assert.deepStrictEqual(
        refusals.map(({ _tag }) => _tag),
        Array.from({ length: 3 }, () => "IdempotencyKeyInUse")
      )
      for (const error of refusals) {
        assert.isTrue(error._tag === "IdempotencyKeyInUse" && error.retryAfter > 0 && error.retryAfter <= 2)
      }
      assert.strictEqual((yield* credentials.list({ subaccount })).length, 1)
    })
  )

  it.effect(`${title}: another creation with the same key is refused, and one of the same name by another key`, () =>
    Effect.gen(function* () {
      const { credentials, name, subaccount } = yield* arrange(kind)
      const options = keyOf()
      yield* credentials.create(kind.payload(name("a"), { subaccount }), options)
      yield* keyReused(credentials.create(kind.payload(name("b"), { subaccount }), options))
      yield* keyReused(credentials.create(kind.payload(name("a"), { subaccount, expires: soon }), options))
      yield* refused(credentials.create(kind.payload(name("a"), { subaccount }), keyOf()), "NameTaken")
      assert.strictEqual((yield* credentials.list({ subaccount })).length, 1)
    })
  )

  it.effect(`${title}: the same creation after a deletion makes it anew, and a refused one uses up no key`, () =>
    Effect.gen(function* () {
      const { credentials, name, subaccount } = yield* arrange(kind)
      const options = keyOf()
      const payload = kind.payload(name("a"), { subaccount })
      yield* credentials.create(payload)
      yield* refused(credentials.create(payload, options), "NameTaken")
      for (let made = 0; made < 2; made++) {
        yield* credentials.delete(name("a"), { subaccount })
        yield* untilRepeated(credentials.create(payload, options))
      }
      for (const idempotencyKey of noKeys()) {
        const other = kind.payload(name("b"), { subaccount })
        yield* keyRefused(credentials.create(other, { idempotencyKey }), String(maximumIdempotencyKey))
      }
      assert.strictEqual((yield* credentials.list({ subaccount })).length, 1)
    })
  )
}

export const keyedCredentialCallsConformance = (it: Cases<CredentialsService>): void => {
  it.describe(area, () => {
    creationsOf("API keys", apiKeys, it)
    creationsOf("SMTP credentials", smtp, it)
  })
}

export const keysAcrossServicesConformance = (it: Cases<ContactsService | EmailsService>): void => {
  it.describe(area, () => {
    it.effect("the key of an add is refused for a message", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const emails = yield* EmailsService
        const options = keyOf()
        yield* contacts.add([{ email: place().email("ada") }], options)
        yield* keyReused(emails.send(mail("Hello"), options))
      })
    )
  })
}
