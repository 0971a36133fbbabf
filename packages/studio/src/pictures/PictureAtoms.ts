/**
 * Pictures of contacts: how many have each status, were added on each day, and have each value of a custom field. They are
 * counted as the contacts stream by, of which none is held, and the stream stops with the page.
 */
import { type Contact, ContactsService } from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { Atom } from "effect/reactivity"
import { selection } from "../rules/AppliedRule.ts"
import { columnsOf } from "../contacts/ContactColumn.ts"
import { runtime } from "../session/Session.ts"

/** A part of a picture. */
export interface Part {
  readonly name: string
  readonly count: number
}

/** What was counted. */
export interface Pictures {
  readonly total: number
  /** The field whose values were counted; `undefined` if none was asked for. */
  readonly field: string | undefined
  readonly rule: string
  readonly statuses: ReadonlyArray<Part>
  /** The newest days on which contacts were added, the newest first. */
  readonly days: ReadonlyArray<Part>
  /** The values that most contacts have. */
  readonly values: ReadonlyArray<Part>
}

/** Maximum number of parts of a picture; the rest is one part. */
export const mostParts = 30

/** Maximum number of values that are told apart; what comes after them is counted together. */
export const mostValues = 100_000

/** Maximum number of characters of a value that is counted and shown. */
const longestValue = 200

const byCount = (counts: ReadonlyMap<string, number>): ReadonlyArray<Part> =>
  [...counts].map(([name, count]) => ({ name, count })).toSorted((one, other) => other.count - one.count)

/** The first parts, and the others as one. */
const cut = (parts: ReadonlyArray<Part>, rest: string, more = 0): ReadonlyArray<Part> => {
  const others = parts.slice(mostParts).reduce((sum, { count }) => sum + count, more)
  return others === 0 ? parts : [...parts.slice(0, mostParts), { name: rest, count: others }]
}

const twoDigits = (number: number): string => String(number).padStart(2, "0")

/** The day of a time by the person's clock. */
const dayOf = (time: DateTime.Utc): string => {
  const date = DateTime.toDateUtc(time)
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
}

/** Counts contacts one by one. */
export const makeTally = (field: string | undefined) => {
  const statuses = new Map<string, number>()
  const days = new Map<string, number>()
  const values = new Map<string, number>()
  const read = field === undefined ? undefined : columnsOf([field])[0]?.read
  let [total, others] = [0, 0]
  const add = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)
  return {
    add: (contact: Contact): void => {
      total++
      add(statuses, contact.status ?? "without a status")
      add(days, contact.dateAdded === undefined ? "not known" : dayOf(contact.dateAdded))
      if (read === undefined) return
      const value = read(contact)
      const name = value.length > longestValue ? `${value.slice(0, longestValue)}…` : value
      if (values.has(name) || values.size < mostValues) add(values, name)
      else others++
    },
    total: () => total,
    pictures: (rule: string): Pictures => ({
      total,
      field,
      rule,
      statuses: byCount(statuses),
      days: cut(
        byCount(days).toSorted((one, other) => (one.name < other.name ? 1 : -1)),
        "before"
      ),
      values: cut(
        byCount(values).map(({ count, name }) => ({ count, name: name === "" ? "(empty)" : name })),
        "other values",
        others
      )
    })
  }
}

/** How many contacts were counted so far. */
export const counted = Atom.make(0)

/** Counts the contacts of a rule, or all of them. */
export const count = runtime.fn(({ field, rule }: { readonly rule: string; readonly field: string | undefined }, get) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const tally = makeTally(field)
    get.set(counted, 0)
    yield* contacts.stream(selection(rule)).pipe(
      Stream.chunks,
      Stream.runForEach((some) =>
        Effect.sync(() => {
          for (const contact of some) tally.add(contact)
          get.set(counted, tally.total())
        })
      )
    )
    return tally.pictures(rule)
  })
)
