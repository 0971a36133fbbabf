/**
 * Reads a page in the order that is shown: in that of adding by its place, which every service knows, and in the others behind a contact at
 * the edge of what was shown last, so that nothing moves while others write. What is too far from there is read from either end.
 */
import { type ContactOrder, type ContactsPage, type ContactsService, maximumSortedOffset } from "@roster/domain"
import { Effect } from "effect"

/** What was shown last. */
export interface ShownPage {
  /** The rule and order. */
  readonly of: string
  /** The place of the first contact, counted from 0. */
  readonly first: number
  readonly emails: ReadonlyArray<string>
}

/** The same order from its end. */
const backwards = {
  added: "-added",
  "-added": "added",
  email: "-email",
  "-email": "email"
} as const satisfies Record<ContactOrder, ContactOrder>

/** The place and order of a page. */
export interface WantedPage {
  readonly sort: ContactOrder
  readonly first: number
  readonly limit: number
  readonly total: number | undefined
}

/** Reads a page; `undefined` if no way leads to its place, which is only so in the middle of many contacts. */
export const readPage = (
  { getMany, list }: Pick<ContactsService["Service"], "getMany" | "list">,
  { first, limit, sort, total }: WantedPage,
  of: Pick<ContactsPage, "lists" | "rule">,
  { emails, first: from }: Pick<ShownPage, "first" | "emails">
) => {
  if (sort === "added") return list({ ...of, limit, offset: first })
  const read = (page: ContactsPage) => list({ ...of, limit, sort, ...page })
  const back = (page: ContactsPage) =>
    Effect.map(list({ ...of, limit, sort: backwards[sort], ...page }), (contacts) => contacts.toReversed())
  const [top] = emails
  /** How many come behind the page. */
  const behind = (total ?? Infinity) - first - limit
  const byPlace = () => {
    if (first <= maximumSortedOffset) return read({ offset: first })
    if (behind <= maximumSortedOffset)
      return back({ offset: Math.max(0, behind), limit: Math.min(limit, limit + behind) })
    if (first !== from || top === undefined) return Effect.undefined
    return Effect.flatMap(back({ after: top, limit: 1 }), ([before]) => read({ after: before?.email }))
  }
  /** Reads behind those that were shown; in the order of adding one that is gone has no place, so behind the next that is left. */
  const behindShown = (readBehind: (page: ContactsPage) => ReturnType<typeof list>, edge: -1 | 0) =>
    Effect.catchTag(readBehind({ after: emails.at(edge) }), "InvalidInput", () =>
      Effect.flatMap(getMany(emails), ({ contacts }) => {
        const left = contacts.at(edge)
        return left === undefined ? byPlace() : readBehind({ after: left.email })
      })
    )
  if (top === undefined || first === 0) return byPlace()
  if (first === from + emails.length) return behindShown(read, -1)
  return first + limit === from ? behindShown(back, 0) : byPlace()
}
