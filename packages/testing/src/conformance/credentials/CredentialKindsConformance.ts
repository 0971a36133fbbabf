/** What only API keys or only SMTP credentials do, on every layer. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { AccessLevel, CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import { apiKeys, arrange, smtp, soon } from "./CredentialKind.ts"
import { refused } from "../cases/Refused.ts"

export const credentialKindsConformance = (it: Cases<CredentialsService>): void => {
  it.describe("credentials: API keys alone", () => {
    it.effect("have the levels that are given, and others when they are changed", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(apiKeys)
        const payload = apiKeys.payload(name("a"), { subaccount })
        const { apiKeys: keys } = yield* CredentialsService
        const made = yield* keys.create({ ...payload, accessLevels: ["Export", "ViewContacts"] })
        assert.deepStrictEqual<unknown>([...made.accessLevels].sort(), ["Export", "ViewContacts"])
        yield* keys.update(name("a"), { ...payload, accessLevels: ["Security"] })
        assert.deepStrictEqual<unknown>((yield* keys.get(name("a"), { subaccount })).accessLevels, ["Security"])
        yield* keys.update(name("a"), { ...payload, accessLevels: [] })
        assert.deepStrictEqual((yield* keys.get(name("a"), { subaccount })).accessLevels, [])
        assert.strictEqual((yield* credentials.list({ subaccount })).length, 1)
      })
    )

    it.effect("may have any level", () =>
      Effect.gen(function* () {
        const { name, subaccount } = yield* arrange(apiKeys)
        const { apiKeys: keys } = yield* CredentialsService
        for (const level of AccessLevel.literals) {
          const made = yield* keys.create({ ...apiKeys.payload(name(level), { subaccount }), accessLevels: [level] })
          assert.deepStrictEqual<unknown>(made.accessLevels, [level])
          yield* keys.delete(name(level), { subaccount })
        }
      })
    )

    it.effect.each(["a/b?c#d%e&f=g+h", "My key", "ключ 😀", "'; --", "__proto__", "x".repeat(200)])(
      "may be called %s",
      (local) =>
        Effect.gen(function* () {
          const { credentials, subaccount } = yield* arrange(apiKeys)
          yield* credentials.create(apiKeys.payload(local, { subaccount }))
          assert.strictEqual((yield* credentials.get(local, { subaccount })).name, local)
          yield* credentials.update(local, apiKeys.payload(local, { subaccount, expires: soon }))
          yield* credentials.delete(local, { subaccount })
          assert.deepStrictEqual(yield* credentials.list({ subaccount }), [])
        })
    )
  })

  it.describe("credentials: SMTP credentials alone", () => {
    it.effect("have the level SendSmtp", () =>
      Effect.gen(function* () {
        const { name, subaccount } = yield* arrange(smtp)
        const { smtp: credentials } = yield* CredentialsService
        const made = yield* credentials.create(smtp.payload(name("a"), { subaccount }))
        const got = yield* credentials.get(name("a"), { subaccount })
        assert.deepStrictEqual<unknown>([made.accessLevel, got.accessLevel], ["SendSmtp", "SendSmtp"])
      })
    )

    it.effect("have names that are unique in the whole service, made or renamed, in any spelling", () =>
      Effect.gen(function* () {
        const { credentials, name, other, subaccount } = yield* arrange(smtp)
        yield* credentials.create(smtp.payload(name("a"), { subaccount }))
        yield* credentials.create(smtp.payload(name("b"), { subaccount: other }))
        for (const taken of [name("a"), name("a").toUpperCase()]) {
          yield* refused(credentials.create(smtp.payload(taken, { subaccount: other })), "NameTaken")
          yield* refused(credentials.create(smtp.payload(taken)), "NameTaken")
          yield* refused(credentials.update(name("b"), smtp.payload(taken, { subaccount: other })), "NameTaken")
        }
      })
    )

    it.effect.each(["john", "a b@example.com", "a@b@example.com"])(
      "have no name %s, which is no e-mail address",
      (impossible) =>
        Effect.gen(function* () {
          const { credentials, subaccount } = yield* arrange(smtp)
          yield* refused(credentials.create(smtp.payload(impossible, { subaccount })), "InvalidInput")
        })
    )

    it.effect.each(["o'c+d/e", "a%2fb", "😀"])("may be called %s@…", (local) =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(smtp)
        yield* credentials.create(smtp.payload(name(local), { subaccount }))
        assert.strictEqual((yield* credentials.get(name(local), { subaccount })).name, name(local))
        yield* credentials.delete(name(local), { subaccount })
      })
    )
  })
}
