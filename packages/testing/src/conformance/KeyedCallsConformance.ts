/** What every layer promises of a call with an idempotency key of the caller's own: it is carried out once. */
import { assert, describe, type Vitest } from "@effect/vitest"
import {
  ContactFilter,
  type ContactPayload,
  ContactsService,
  EmailMessage,
  EmailsService,
  type InvalidInput,
  type InvalidRule,
  type KeyedCall,
  maximumIdempotencyKey,
  type NotAllowedSender,
  type ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { FastContactsWriter } from "@roster/domain/FastContacts"
import { Effect, Result } from "effect"
import { place } from "./Place.ts"
import { refused } from "./Refused.ts"
import { noTexts, unchecked } from "./Unchecked.ts"

type Call = Effect.Effect<unknown, InvalidInput | InvalidRule | NotAllowedSender | ServiceError | TooManyContacts>

const keyOf = () => ({ idempotencyKey: crypto.randomUUID() })

const mail = (subject: string) =>
  EmailMessage.make({
    recipients: [{ email: "someone@elsewhere.test" }],
    content: { from: "john@example.com", subject, body: [{ contentType: "PlainText", content: "Hi" }] }
  })

const asRows = (contacts: ReadonlyArray<ContactPayload>) => {
  const writer = new FastContactsWriter()
  for (const contact of contacts) writer.add({ contact: Result.succeed(contact), fast: undefined })
  return writer.take()
}

export const keyedCallsConformance = (it: Vitest.MethodsNonLive<ContactsService | EmailsService>): void => {
  describe("calls with an idempotency key of the caller's own", () => {
    it.effect("add: the same call again returns the first result, and changes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email } = place()
        const options = { ...keyOf(), listNames: [`${domain} list`] }
        const some = [
          { email: email("ada"), firstName: "Ada", customFields: { city: "Łódź" } },
          { email: email("bob"), consent: { tracking: "Allow" } }
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
        for (const kind of [some, new Set(some), asRows(some)]) {
          const options = keyOf()
          yield* contacts.addWithoutAnswer(kind, options)
          yield* contacts.update(email("ada"), { firstName: "Changed" })
          yield* contacts.addWithoutAnswer(kind, options)
          assert.strictEqual((yield* contacts.get(email("ada"))).firstName, "Changed")
          const other = [{ email: email("other") }]
          const error = yield* refused(contacts.addWithoutAnswer(asRows(other), options), "InvalidInput")
          assert.strictEqual(error.field, "idempotencyKey")
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
        assert.deepStrictEqual(yield* contacts.export(request, options), first)
        assert.notStrictEqual((yield* contacts.export(request, keyOf())).id, first.id)
        assert.notStrictEqual((yield* contacts.export(request)).id, first.id)
      })
    )

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

    it.effect("at the same time: all get the one result", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const contacts = yield* ContactsService
        const { email } = place()
        const options = keyOf()
        const sent = yield* Effect.all(
          Array.from({ length: 8 }, () => emails.send(mail("Hello"), options)),
          { concurrency: 8 }
        )
        assert.strictEqual(new Set(sent.map(({ messageId }) => messageId)).size, 1)
        const adds = keyOf()
        const added = yield* Effect.all(
          Array.from({ length: 8 }, () => contacts.add([{ email: email("ada"), firstName: "Ada" }], adds)),
          { concurrency: 8 }
        )
        for (const one of added) assert.deepStrictEqual(one, added[0])
      })
    )

    it.effect("another call with the same key is refused, and nothing of it is done", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const emails = yield* EmailsService
        const { domain, email, rule } = place()
        const options = keyOf()
        const some = [{ email: email("ada") }]
        yield* contacts.add(some, options)
        const others: ReadonlyArray<Call> = [
          contacts.add([{ email: email("bob") }], options),
          contacts.add([...some, { email: email("bob") }], options),
          contacts.add(some, { ...options, listNames: [`${domain} list`] }),
          contacts.export({}, options),
          emails.send(mail("Hello"), options)
        ]
        for (const other of others) {
          const error = yield* refused(other, "InvalidInput")
          assert.strictEqual(error.field, "idempotencyKey")
          assert.include(error.message, "another call")
        }
        assert.strictEqual((yield* contacts.list({ rule })).length, 1)
      })
    )

    it.effect("input that no compiler would let through is refused as without a key", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const emails = yield* EmailsService
        const calls: ReadonlyArray<(options?: KeyedCall) => Call> = [
          ...[null, 7, { _tag: "ByRule", rule: 7 }, { _tag: "ByEmails", emails: [7] }].map(
            (filter) => (options?: KeyedCall) => contacts.export({ filter: unchecked(filter) }, options)
          ),
          (options) => contacts.add(unchecked([{ email: 7 }]), options),
          (options) => contacts.add([], { ...options, listNames: unchecked([7]) }),
          (options) => emails.send(unchecked({ recipients: 7 }), options)
        ]
        for (const call of calls) {
          const plain = yield* refused(call(), "InvalidInput")
          const keyed = yield* refused(call(keyOf()), "InvalidInput")
          assert.deepStrictEqual([keyed.field, keyed.issue], [plain.field, plain.issue])
        }
      })
    )

    it.effect("a refused call uses up no key", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const emails = yield* EmailsService
        const { email } = place()
        const options = keyOf()
        yield* refused(contacts.add([{ email: email("ada"), firstName: "a\0b" }], options), "InvalidInput")
        yield* contacts.add([{ email: email("ada"), firstName: "Ada" }], options)
        const sending = keyOf()
        const { content, recipients } = mail("Hello")
        const evil = EmailMessage.make({ recipients, content: { ...content, from: "eve@evil.test" } })
        yield* refused(emails.send(evil, sending), "NotAllowedSender")
        yield* emails.send(mail("Hello"), sending)
      })
    )

    it.effect(`a key has 1 to ${maximumIdempotencyKey} visible ASCII characters`, () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const emails = yield* EmailsService
        const { email, rule } = place()
        const some = [{ email: email("ada") }]
        const longest = crypto.randomUUID().padEnd(maximumIdempotencyKey, "~")
        yield* contacts.add(some, { idempotencyKey: longest })
        const one = yield* emails.send(mail("Hello"), { idempotencyKey: longest.slice(0, -1) })
        assert.deepStrictEqual(yield* emails.send(mail("Hello"), { idempotencyKey: longest.slice(0, -1) }), one)
        yield* contacts.delete(email("ada"))
        const texts = [`${longest}~`, "", "two words", "a\nb", "ключ", "\u007f"]
        for (const idempotencyKey of [...texts, ...noTexts.map((value) => unchecked<string>(value))]) {
          const calls: ReadonlyArray<Call> = [
            contacts.add(some, { idempotencyKey }),
            contacts.addWithoutAnswer(some, { idempotencyKey }),
            contacts.export({}, { idempotencyKey }),
            emails.send(mail("Hello"), { idempotencyKey })
          ]
          for (const call of calls) {
            const error = yield* refused(call, "InvalidInput")
            assert.strictEqual(error.field, "idempotencyKey")
            assert.include(error.message, String(maximumIdempotencyKey))
          }
        }
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )
  })
}
