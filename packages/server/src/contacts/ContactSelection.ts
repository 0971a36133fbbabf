/** Which contacts of an account a filter selects. */
import { canonicalEmail, type ContactFilter, type InvalidRule, parseRule, type Rule, ruleMatcher } from "@roster/domain"
import { type ContactRule, type RuleFields, ruleSource } from "@roster/domain/internal"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { dialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { columnsFor } from "./ContactRow.ts"

/** Parses the rule of a filter again, because a rule of another service's dialect may have been accepted unchecked. */
export const readRule = (rule: ContactRule): Effect.Effect<Rule.Rule, InvalidRule> =>
  Effect.fromResult(parseRule(ruleSource(rule)))

/**
 * The canonical addresses that all contacts of a rule have one of, such as those of `email = 'a' OR email = 'b'`, also
 * within an AND; `undefined` for a rule that may select others. A rule has at most 1000 conditions, and so as many
 * addresses.
 */
export const identitiesOf = (rule: Rule.Rule): ReadonlySet<string> | undefined => {
  switch (rule._tag) {
    case "Compare": {
      // Two addresses that a rule takes for equal have one canonical form.
      const isAddress = rule.field.name === "email" && rule.operator === "=" && rule.value._tag === "Text"
      return isAddress && rule.field._tag === "RecordField" ? new Set([canonicalEmail(rule.value.text)]) : undefined
    }
    case "And":
      return rule.terms
        .map(identitiesOf)
        .reduce(
          (fewest, identities) =>
            fewest === undefined || (identities !== undefined && identities.size < fewest.size) ? identities : fewest,
          undefined
        )
    case "Or": {
      const all = new Set<string>()
      for (const term of rule.terms) {
        const identities = identitiesOf(term)
        if (identities === undefined) return undefined
        for (const identity of identities) all.add(identity)
      }
      return all
    }
    default:
      return undefined
  }
}

/** The contacts of an account that a filter selects. */
interface Selection {
  /** The condition of SQL. */
  readonly where: Statement.Fragment
  /** Whether the condition names the addresses, of which there are few. */
  readonly isByAddress: boolean
  /** The columns that are read of each, `contactColumns` first. */
  readonly columns: string
  /** Whether a contact that SQL selected is in the selection. */
  readonly matches: (contact: RuleFields.RuleSubject) => boolean
}

/** What a filter selects now. SQL selects by address alone, and a rule is evaluated here. */
export const selection = Effect.fnUntraced(function* (
  account: string,
  filter: ContactFilter | undefined,
  lists = false
) {
  const sql = yield* SqlClient.SqlClient
  const selected = (
    identities: Iterable<string> | undefined,
    matches: Selection["matches"] = () => true,
    rule?: Rule.Rule
  ): Selection => ({
    columns: columnsFor(rule, lists),
    where:
      identities === undefined
        ? sql`account = ${account}`
        : sql`account = ${account} AND ${dialect(sql).isOneOf("identity", [...identities])}`,
    isByAddress: identities !== undefined,
    matches
  })
  if (filter === undefined) return selected(undefined)
  if (filter._tag === "ByEmails") return selected(filter.emails.map(canonicalEmail))
  const rule = yield* readRule(filter.rule)
  return selected(identitiesOf(rule), ruleMatcher(rule, yield* storeClock(sql).now), rule)
})
