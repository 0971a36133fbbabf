/**
 * An official client in front of a served store, and how the scenarios ask it.
 */
import { assert, expect } from "@effect/vitest"
import { Context, Effect, Schema } from "effect"
import type { ServeProcess } from "../../src/index.ts"
import type { Answer, OfficialClient } from "./OfficialClient.ts"

/** The client with the administrator key of the store, with a key that nobody has, and with whatever key. */
export class Official extends Context.Service<
  Official,
  {
    readonly client: OfficialClient
    readonly stranger: OfficialClient
    readonly withKey: (key: string) => OfficialClient
    readonly served: ServeProcess
  }
>()("@roster/testing/test/Official") {}

export const strangerKey = "stranger-0123456789-canary"

export const ExportLink = Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String })
export const Token = Schema.Struct({ Token: Schema.String })
export const ErrorBody = Schema.Struct({ Error: Schema.String })

/** Reads what a client gave by hand-written shapes, and by none of ours. */
export const as = <T>(schema: Schema.Codec<T, unknown>, { data }: Answer) =>
  Schema.decodeUnknownEffect(schema)(data).pipe(Effect.orDie)

export const isEmpty = (data: unknown) =>
  data === null || data === undefined || data === "" || JSON.stringify(data) === "{}"

/** An instant in any of the forms that the clients make of it. */
export const instant = (iso: string) => expect.stringMatching(new RegExp(`^${iso}(?:\\.000)?Z$`))

/** Asks the client, which has to be answered with a status. */
export const asking = Effect.fnUntraced(function* (ask: (client: OfficialClient) => Promise<Answer>, status: number) {
  const { client } = yield* Official
  const answer = yield* Effect.promise(() => ask(client))
  assert.strictEqual(answer.status, status, JSON.stringify(answer.data))
  return answer
})
