/** Pages of contacts: the thread for large requests answers those that are large, and the others are made in turn. */
import { checkPage, type RuleText } from "@roster/domain"
import { DateTime, Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { bytesOfIds, pageBytes } from "../contacts/ContactPagination.ts"
import { PrefetchedIds } from "../contacts/RuleScans.ts"
import { readRule } from "../contacts/RuleSql.ts"
import { Caller } from "../credentials/Caller.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { freeWhenSent, largeRequest, LargeRequests, makeInTurn, type RequestRefusal } from "./LargeRequests.ts"

/** A page of at most so many contacts is not large: with more of the largest size it takes some 10 ms. */
const smallPage = 20

/**
 * Has large pages answered by the thread for large requests, where there is one. The others are then made in turn: many
 * that arrive together would keep the event loop.
 */
export const makeLargePages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const thread = yield* LargeRequests
  const inTurn = yield* makeInTurn
  return <E, R>(
    {
      limit = 0,
      offset = 0,
      rule
    }: {
      readonly limit?: number | undefined
      readonly offset?: number | undefined
      readonly rule?: RuleText | undefined
    },
    request: HttpServerRequest.HttpServerRequest,
    answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    refuse: (refusal: RequestRefusal) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) => {
    if (thread === undefined) return answer
    const isSmall = limit <= smallPage
    const freed = Effect.tap(answer, (response) => Effect.sync(() => freeWhenSent(request, response)))
    return Effect.gen(function* () {
      yield* checkPage({ limit, offset })
      const { account } = yield* Caller
      const condition = rule === undefined ? undefined : yield* readRule(rule)
      let ids: Float64Array<ArrayBuffer> | undefined
      if (condition !== undefined && condition._tag !== "All") {
        // Nobody waits for a scan.
        if (isSmall) return yield* freed
        const now = (yield* DateTime.now).epochMilliseconds
        ids = yield* thread.find(
          { operation: "contactsGet", isDeletion: false },
          { account, rule: condition, now, after: 0, offset, limit }
        )
      }
      const answerUnlessLarge = Effect.gen(function* () {
        const bytes = isSmall ? 0 : yield* ids === undefined ? pageBytes(account, { limit, offset }) : bytesOfIds(ids)
        return bytes < largeRequest ? yield* Effect.provideService(freed, PrefetchedIds, ids) : undefined
      })
      return (yield* inTurn("page", answerUnlessLarge)) ?? (yield* thread.answer(request, { ids }, refuse))
    }).pipe(Effect.provideService(SqlClient.SqlClient, sql), orStoreFailure("contactsGet"))
  }
})
