/**
 * What the address of the page says of its contacts: the rule, columns, order and page, so that a view can be sent, reloaded, and come back to. It
 * stands in the fragment, which browsers send to nobody. An address is of anybody, so what this page does not know is left out.
 */
import { type ContactOrder, contactOrders, parseRule, Rule } from "@roster/domain"
import { Result } from "effect"
import { Atom } from "effect/reactivity"
import { pageSize, sizes } from "../kit/Pager.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { appTexts } from "../texts/AppTexts.ts"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import { usualColumns } from "../contacts/ContactColumn.ts"

/** What is shown of the contacts. */
export interface ContactsShown {
  /** The rule; empty for all contacts. */
  readonly rule: string
  /** The names of the columns beside the address. */
  readonly columns: ReadonlyArray<string>
  readonly sort: ContactOrder
  /** The number of the page, from 1. */
  readonly page: number
  /** The rows of a page. */
  readonly rows: number
}

/** What is shown where an address says nothing. */
const usual: ContactsShown = { rule: "", columns: usualColumns, sort: "added", page: 1, rows: 50 }

/** The fragment that shows contacts, without its `#`. */
export const addressOf = (given: Partial<ContactsShown>): string => {
  const { columns, page, rows, rule, sort } = { ...usual, ...given }
  const query = new URLSearchParams()
  if (rule !== "") query.set("rule", rule)
  if (columns.join("\n") !== usualColumns.join("\n")) {
    for (const name of columns.length === 0 ? [""] : columns) query.append("column", name)
  }
  if (sort !== usual.sort) query.set("sort", sort)
  if (page !== usual.page) query.set("page", String(page))
  if (rows !== usual.rows) query.set("rows", String(rows))
  return query.size === 0 ? "contacts" : `contacts?${query}`
}

const mostColumns = 100
const longestName = 300
const longestQuery = 100_000

/** What an address shows, and which parts of it say nothing that this page knows. */
export interface ReadAddress {
  readonly shown: ContactsShown
  /** The names of these parts. */
  readonly unknown: ReadonlyArray<string>
  /** The rule of the address if it has a mistake, for the box. */
  readonly mistaken?: string | undefined
}

const isWhole = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text)

/** How each part of an address is read; `undefined` for what this page does not know. */
const readers: Readonly<Record<string, (texts: ReadonlyArray<string>) => Partial<ContactsShown> | undefined>> = {
  rule: ([text = ""]) => ({ rule: text.trim() }),
  column: (names) =>
    names.length <= mostColumns && names.every(({ length }) => length <= longestName)
      ? { columns: [...new Set(names.filter((name) => name.trim() !== "" && name.isWellFormed()))] }
      : undefined,
  sort: ([text]) => {
    const sort = contactOrders.find((one) => one === text)
    return sort === undefined ? undefined : { sort }
  },
  page: ([text = ""]) => (isWhole(text) ? { page: Number(text) } : undefined),
  rows: ([text = ""]) => (sizes.includes(Number(text)) ? { rows: Number(text) } : undefined)
}

/** Reads what stands behind the `?` of an address, which may say these parts. */
export const readAddress = (query: string, known: ReadonlyArray<string> = Object.keys(readers)): ReadAddress => {
  if (query.length > longestQuery) return { shown: usual, unknown: ["length"] }
  const given = new URLSearchParams(query)
  const read = [...new Set(given.keys())].map((name) => ({
    name,
    part: known.includes(name) ? readers[name]?.(given.getAll(name)) : undefined
  }))
  const unknown = read.flatMap(({ name, part }) => (part === undefined ? [name] : []))
  const shown: ContactsShown = Object.assign({}, usual, ...read.map(({ part }) => part))
  const { rule } = shown
  if (rule === "") return { shown, unknown }
  const parsed = parseRule(rule)
  if (Result.isFailure(parsed)) return { shown: { ...shown, rule: "", page: 1 }, unknown, mistaken: rule }
  return { shown: Rule.all._tag === parsed.success._tag ? { ...shown, rule: "" } : shown, unknown }
}

/** What is shown now. What it is set to is shown, with a rule that has a mistake in the box. */
export const shown = Atom.writable(
  (get): ContactsShown => ({
    rule: get(AppliedRule.rule),
    columns: get(ContactAtoms.columns),
    sort: get(ContactAtoms.sort),
    page: Math.floor(get(ContactAtoms.askedFirst) / get(pageSize)) + 1,
    rows: get(pageSize)
  }),
  (context, { mistaken, shown }: ReadAddress) => {
    const { columns, page, rows, rule, sort } = shown
    const now = context.get(AppliedRule.rule)
    if (rule !== now || mistaken !== undefined) context.set(AppliedRule.show, rule)
    if (mistaken !== undefined) context.set(AppliedRule.draft, mistaken)
    context.set(ContactAtoms.columns, columns)
    context.set(ContactAtoms.sort, sort)
    context.set(pageSize, rows)
    context.set(ContactAtoms.first, (page - 1) * rows)
  }
)

/** The rule alone, which an export has in its address too. */
export const shownRule = Atom.writable(
  (get): string => get(AppliedRule.rule),
  (context, read: ReadAddress) => {
    const now = context.get(shown)
    const { rule } = read.shown
    context.set(shown, { ...read, shown: { ...now, rule, page: rule === now.rule ? now.page : usual.page } })
  }
)

/** How a saved rule has its contacts shown, columns and order, which it shows once it is set to one. */
export const savedView = Atom.writable(
  (get): string => {
    const { columns, sort } = get(shown)
    const query = new URLSearchParams()
    for (const name of columns.length === 0 ? [""] : columns) query.append("column", name)
    query.set("sort", sort)
    return String(query)
  },
  (context, view: string) => {
    const { columns, sort } = readAddress(view).shown
    context.set(ContactAtoms.columns, columns)
    context.set(ContactAtoms.sort, sort)
  }
)

/** Why a part of an address was left out, in a sentence; `undefined` if none was. */
export const problemOf = ({ mistaken, unknown }: ReadAddress): string | undefined => {
  if (mistaken !== undefined) return appTexts.mistaken
  const names = unknown.map((name) => name.slice(0, 30)).slice(0, 3)
  return names.length === 0 ? undefined : appTexts.notKnown(names)
}
