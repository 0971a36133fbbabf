/** A page of contacts and its bounds, in a file of its own so that the tag of the service loads no rules and errors. */
import { Effect } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { ruleRefusal } from "../rules/RuleError.ts"
import type { ContactRule } from "../rules/RuleText.ts"

/** The maximum `limit` of a page; a larger one is refused. (docs/decisions/paging.md) */
export const maximumContactsPerPage = 1000

/** The page of contacts to list. */
export interface ContactsPage {
  /** Maximum number of contacts, up to 1000 (default: 20). `stream` gives more. */
  readonly limit?: number | undefined
  /** The number of contacts to skip (default: 0). */
  readonly offset?: number | undefined
  /** The rule that selects the contacts (default: all). */
  readonly rule?: ContactRule | undefined
  /** Whether each contact has its lists, at a service of ours (default: false). Any other does not tell them. */
  readonly lists?: boolean | undefined
}

const checkCount = (field: "limit" | "offset", count: number | undefined, most: number, issue: string) =>
  count === undefined || (Number.isSafeInteger(count) && count >= 0 && count <= most)
    ? Effect.void
    : Effect.fail(new InvalidInput({ field, issue }))

const limitIssue = `it is a whole number from 0 to ${maximumContactsPerPage}; more contacts are read page by page, by offset`

/** Checks a page, with the same messages on every layer. */
export const checkPage = Effect.fnUntraced(function* (page: ContactsPage) {
  const { limit, offset, rule } = page
  yield* checkCount("limit", limit, maximumContactsPerPage, limitIssue)
  yield* checkCount("offset", offset, Number.MAX_SAFE_INTEGER, "it is a whole number from 0 on")
  const refusal = rule === undefined ? undefined : ruleRefusal(rule)
  if (refusal !== undefined) return yield* refusal
})
