/**
 * Which rows a filter means, as SQL.
 */
import {
  type ContactFilter,
  type ContactRule,
  canonicalEmail,
  type InvalidRule,
  parseRule,
  type Rule,
  ruleSource
} from "@roster/domain"
import { DateTime, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { ruleSql } from "./RuleSql.ts"
import { dialect } from "../store/SqlDialect.ts"

/**
 * Reads the rule of a filter. It was checked where it was made, and is not trusted all the same: a rule of another
 * service's dialect may have been let through unchecked.
 */
export const readRule = (rule: ContactRule): Effect.Effect<Rule.Rule, InvalidRule> =>
  Effect.fromResult(parseRule(ruleSource(rule)))

/** A condition on the rows of an account. */
export const selection = Effect.fnUntraced(function* (account: string, filter: ContactFilter | undefined) {
  const sql = yield* SqlClient.SqlClient
  const ofAccount = sql`account = ${account}`
  if (filter === undefined) return ofAccount
  const condition: Statement.Fragment =
    filter._tag === "ByRule"
      ? ruleSql(sql, yield* readRule(filter.rule), yield* DateTime.now)
      : dialect(sql).isOneOf("identity", filter.emails.map(canonicalEmail))
  return sql`${ofAccount} AND ${condition}`
})
