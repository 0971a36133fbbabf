/**
 * What the tests of access share: requests of every operation, keys, and all at once.
 */
import { assert } from "@effect/vitest"
import { operations } from "@roster/api"
import { SecretFormat } from "@roster/domain/internal"
import { Clock, Effect } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { type Answered, ask, askJson, type Asked, succeeded, textField } from "../wire/Wire.ts"

export interface KeyPayload {
  readonly Name: string
  readonly AccessLevel: ReadonlyArray<string>
  readonly Expires?: string | null
  readonly RestrictAccessToIPRange?: ReadonlyArray<string>
  readonly Subaccount?: string
}

/** A key in the right form that no store has. */
export const unknownKey = (number: number) => SecretFormat.secretOf(SecretFormat.prefixes.ApiKey, BigInt(number))

/** Makes an API key, with the administrator key or another one, and gives its token. */
export const makeKey = Effect.fnUntraced(function* (payload: KeyPayload, asked?: Asked) {
  return textField(succeeded(yield* askJson("POST", "/security/apikeys", payload, asked), 201), "Token")
})

export const deleteKey = Effect.fnUntraced(function* (name: string, subaccount?: string) {
  const query = subaccount === undefined ? "" : `?subaccount=${encodeURIComponent(subaccount)}`
  const { status, text } = yield* ask("DELETE", `/security/apikeys/${encodeURIComponent(name)}${query}`)
  assert.strictEqual(status, 200, text)
})

/** Lets a key expire that was good until now. A busy machine may take longer for it than is left of the key. */
export const expireKey = Effect.fnUntraced(function* (payload: KeyPayload, key: string) {
  const shorten = Effect.gen(function* () {
    const Expires = new Date((yield* Clock.currentTimeMillis) + 2000).toISOString()
    return yield* askJson("PUT", `/security/apikeys/${encodeURIComponent(payload.Name)}`, { ...payload, Expires })
  })
  succeeded(yield* eventually(shorten, ({ status }) => status === 200))
  yield* eventually(ask("GET", "/contacts", { key }), ({ status }) => status === 401)
})

/** A request that would be refused for its type, its body, its query and what it names too, were it allowed. */
export const hopeless = { headers: { "Content-Type": "text/nonsense" }, body: "{{{" } as const

export interface OperationRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly required: string
}

/** One request of every operation, from the annotations of the contract; what it names does not exist. */
export const everyRequest: ReadonlyArray<OperationRequest> = [...operations.values()].map(
  ({ id, method, path, requiredAccess }) => ({
    id,
    method,
    path: `${path
      .replace(":email", "nobody@example.com")
      .replace(":name", "none%40example.com")
      .replace(":id", "00000000-0000-4000-8000-000000000000")}?limit=-1&subaccount=broken`,
    required: requiredAccess
  })
)

/** The same for all operations, side by side. */
export const ofEvery = <E, R>(check: (request: OperationRequest) => Effect.Effect<void, E, R>) =>
  Effect.forEach(everyRequest, check, { concurrency: "unbounded", discard: true })

/** What two answers have to have in common for nobody to tell them apart. */
export const seenOf = ({ headers, status, text }: Answered, names: ReadonlyArray<string>) => {
  const { "content-length": _, date: __, ...rest } = headers
  const known = names.toSorted((a, b) => b.length - a.length)
  const anonymous = known.reduce((shown, name) => shown.replaceAll(name, "…"), text)
  return { status, headers: rest, text: anonymous.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "…") }
}
