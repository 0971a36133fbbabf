/** A page of contacts and its bounds, in a file of its own so that the tag of the service loads no rules and errors. */
import { Effect } from "effect"
import { emailAddressIssue } from "../contacts/EmailAddress.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { ruleRefusal } from "../rules/RuleError.ts"
import type { ContactRule } from "../rules/RuleText.ts"

/** The maximum `limit` of a page; a larger one is refused. (docs/decisions/paging.md) */
export const maximumContactsPerPage = 1000

/** The largest `offset` of a page in another order, or behind a contact: further ones are read by `after`. */
export const maximumSortedOffset = 10_000

/** The orders of a list: by when contacts were added or by address, each forwards or, with the sign, backwards. */
export const contactOrders = ["added", "-added", "email", "-email"] as const

/** The order of a list. By address means by the bytes of the canonical address in UTF-8. (docs/decisions/paging.md) */
export type ContactOrder = (typeof contactOrders)[number]

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
  /** The order, at a service of ours (default: `added`). Any other has the default alone, so the client refuses the others. */
  readonly sort?: ContactOrder | undefined
  /**
   * The address of the contact behind which the page begins, at a service of ours. By address it need not be one; in the order of
   * adding it has to be that of a contact.
   */
  readonly after?: string | undefined
}

/** The contacts to read from an offset on, in the order of adding. */
export type ContactsFrom = Omit<ContactsPage, "limit" | "sort" | "after">

/** The page of the contacts on a list, in the order of adding. */
export type ListContactsPage = Omit<ContactsPage, "rule" | "sort" | "after">

const refuse = (field: string, issue: string) => Effect.fail(new InvalidInput({ field, issue }))

const checkCount = (field: "limit" | "offset", count: number | undefined, most: number, issue: string) =>
  count === undefined || (Number.isSafeInteger(count) && count >= 0 && count <= most)
    ? Effect.void
    : refuse(field, issue)

/** Whether a page is one that only a service of ours has. */
export const isSorted = ({ after, sort = "added" }: Pick<ContactsPage, "after" | "sort">): boolean =>
  sort !== "added" || after !== undefined

const limitIssue = `it is a whole number from 0 to ${maximumContactsPerPage}; more contacts are read page by page, by offset`

const orderNames = "added, -added, email or -email"

const sortedOffsetIssue =
  `in another order, or behind a contact, it is a whole number from 0 to ${maximumSortedOffset}; further contacts are read ` +
  "behind the last one of a page"

const addressIssue = (after: unknown): string | undefined =>
  typeof after === "string" ? emailAddressIssue(after.trim()) : "an e-mail address is a text"

/** Checks a page, with the same messages on every layer. */
export const checkPage = Effect.fnUntraced(function* (page: ContactsPage) {
  const { after, limit, offset, rule, sort } = page
  yield* checkCount("limit", limit, maximumContactsPerPage, limitIssue)
  yield* checkCount("offset", offset, Number.MAX_SAFE_INTEGER, "it is a whole number from 0 on")
  if (sort !== undefined && !contactOrders.includes(sort)) return yield* refuse("sort", `it is ${orderNames}`)
  const issue = after === undefined ? undefined : addressIssue(after)
  if (issue !== undefined) return yield* refuse("after", issue)
  if (isSorted(page)) yield* checkCount("offset", offset, maximumSortedOffset, sortedOffsetIssue)
  const refusal = rule === undefined ? undefined : ruleRefusal(rule)
  if (refusal !== undefined) return yield* refusal
})
