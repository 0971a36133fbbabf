/** The saved rules of an account, which its store keeps. */
import { maximumSavedRules, type SavedRule, SavedRuleNotFound } from "@roster/domain"
import { tooManySavedRules } from "@roster/domain/internal"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dialect } from "../store/SqlDialect.ts"

interface SavedRow {
  readonly name: string
  readonly rule: string
  readonly view: string | null
}

/** The rules by name. */
export const readSavedRules = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<SavedRow>`SELECT name, rule, view FROM saved_rules WHERE account = ${account}`
  return rows
    .map(({ view, ...rule }): SavedRule => (view === null ? rule : { ...rule, view }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
})

/** Saves a rule, in the transaction of the caller. Refuses one more than may be saved. */
export const writeSavedRule = Effect.fnUntraced(function* (account: string, { name, rule, view }: SavedRule) {
  const sql = yield* SqlClient.SqlClient
  yield* dialect(sql).lockAccounts([account])
  const rules = yield* readSavedRules(account)
  if (rules.length >= maximumSavedRules && !rules.some((one) => one.name === name)) return yield* tooManySavedRules()
  yield* sql`
    INSERT INTO saved_rules ${sql.insert({ account, name, rule, view: view ?? null })}
    ON CONFLICT (account, name) DO UPDATE SET rule = excluded.rule, view = excluded.view`
})

/** Removes a saved rule, in the transaction of the caller. */
export const removeSavedRule = Effect.fnUntraced(function* (account: string, name: string) {
  const sql = yield* SqlClient.SqlClient
  const removed = yield* sql`
    DELETE FROM saved_rules WHERE account = ${account} AND name = ${name} RETURNING name`
  if (removed.length === 0) return yield* new SavedRuleNotFound({ name })
})
