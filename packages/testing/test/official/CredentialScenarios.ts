/**
 * The operations on credentials, as an official client drives them.
 */
import { assert, expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { as, asking, instant, Official, Token } from "./Official.ts"

export const credentialScenarios = (it: Vitest.MethodsNonLive<Official>): void => {
  it.effect("manages API keys", () =>
    Effect.gen(function* () {
      const { withKey } = yield* Official
      const key = "My key/1 + ü"
      const made = yield* asking(
        (client) =>
          client.securityApikeysPost({
            Name: key,
            AccessLevel: ["ViewContacts", "Export"],
            Expires: "2099-01-02T03:04:05.678Z",
            RestrictAccessToIPRange: ["127.0.0.1", "10.0.0.0/8"]
          }),
        201
      )
      const record = {
        Name: key,
        AccessLevel: ["ViewContacts", "Export"],
        Expires: instant("2099-01-02T03:04:05"),
        RestrictAccessToIPRange: ["127.0.0.1", "10.0.0.0/8"]
      }
      expect(made.data).toMatchObject(record)
      const { Token: token } = yield* as(Token, made)
      const got = yield* asking((client) => client.securityApikeysByNameGet(key), 200)
      expect(got.data).toMatchObject(record)
      const listed = yield* asking((client) => client.securityApikeysGet(), 200)
      assert.notInclude(JSON.stringify([got.data, listed.data]), token)
      // The new key works, and does what it may and no more.
      const own = withKey(token)
      assert.strictEqual((yield* Effect.promise(() => own.contactsGet())).status, 200)
      assert.strictEqual((yield* Effect.promise(() => own.contactsPost([{ Email: "a@example.com" }]))).status, 403)
      yield* asking((client) => client.securityApikeysPost({ Name: key, AccessLevel: [] }), 409)
      // Absent stays, null clears.
      const kept = yield* asking(
        (client) => client.securityApikeysByNamePut(key, { Name: "Renamed", AccessLevel: ["Export"] }),
        200
      )
      expect(kept.data).toMatchObject({ ...record, Name: "Renamed", AccessLevel: ["Export"] })
      const cleared = yield* asking(
        (client) =>
          client.securityApikeysByNamePut("Renamed", {
            Name: "Renamed",
            AccessLevel: ["Export"],
            Expires: null,
            RestrictAccessToIPRange: []
          }),
        200
      )
      assert.notMatch(JSON.stringify(cleared.data), /2099|10\.0\.0\.0/)
      yield* asking((client) => client.securityApikeysByNameGet(key), 404)
      yield* asking((client) => client.securityApikeysByNameDelete("Renamed"), 200)
      yield* asking((client) => client.securityApikeysByNameDelete("Renamed"), 404)
      yield* asking((client) => client.securityApikeysByNamePut("Renamed", { Name: "Renamed", AccessLevel: [] }), 404)
      assert.strictEqual((yield* Effect.promise(() => own.contactsGet())).status, 401)
      yield* asking((client) => client.securityApikeysPost({ Name: "bad", AccessLevel: ["NoSuchLevel"] }), 400)
    })
  )

  it.effect("manages the API keys of a subaccount", () =>
    Effect.gen(function* () {
      const subaccount = "sub+1@example.com"
      yield* asking(
        (client) =>
          client.securityApikeysPost({
            Name: "of sub",
            AccessLevel: ["Export"],
            Expires: null,
            Subaccount: subaccount
          }),
        201
      )
      expect((yield* asking((client) => client.securityApikeysGet(subaccount), 200)).data).toMatchObject([
        { Name: "of sub" }
      ])
      yield* asking((client) => client.securityApikeysByNameGet("of sub"), 404)
      yield* asking((client) => client.securityApikeysByNameGet("of sub", subaccount), 200)
      yield* asking(
        (client) =>
          client.securityApikeysByNamePut("of sub", { Name: "of sub", AccessLevel: [], Subaccount: subaccount }),
        200
      )
      yield* asking((client) => client.securityApikeysByNameDelete("of sub", subaccount), 200)
    })
  )

  it.effect("manages SMTP credentials", () =>
    Effect.gen(function* () {
      const [first, second] = ["smtp+1@example.com", "smtp/2@example.com"]
      const made = yield* asking(
        (client) =>
          client.securitySmtpPost({
            Name: first,
            Expires: "2099-01-02T03:04:05.678+00:00",
            RestrictAccessToIPRange: ["::1"]
          }),
        201
      )
      const record = {
        Name: first,
        AccessLevel: "SendSmtp",
        Expires: instant("2099-01-02T03:04:05"),
        RestrictAccessToIPRange: ["::1"]
      }
      expect(made.data).toMatchObject(record)
      const { Token: token } = yield* as(Token, made)
      const got = yield* asking((client) => client.securitySmtpByNameGet(first), 200)
      expect(got.data).toMatchObject(record)
      const listed = yield* asking((client) => client.securitySmtpGet(), 200)
      expect(listed.data).toMatchObject([record])
      assert.notInclude(JSON.stringify([got.data, listed.data]), token)
      yield* asking((client) => client.securitySmtpPost({ Name: first, Subaccount: "sub@example.com" }), 409)
      expect(
        (yield* asking((client) => client.securitySmtpByNamePut(first, { Name: second }), 200)).data
      ).toMatchObject({ ...record, Name: second })
      yield* asking((client) => client.securitySmtpByNameGet(first), 404)
      expect((yield* asking((client) => client.securitySmtpGet("sub@example.com"), 200)).data).toMatchObject([])
      yield* asking((client) => client.securitySmtpByNameDelete(second), 200)
      yield* asking((client) => client.securitySmtpByNameDelete(second), 404)
      yield* asking((client) => client.securitySmtpPost({ Name: "no address" }), 400)
    })
  )
}
