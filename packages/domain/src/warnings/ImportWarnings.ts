/**
 * Warnings about the rows that an import takes: what is probably not meant so, by kind and column, counted and with the
 * first examples.
 */
import { Result, Schema } from "effect"
import { importColumns, type ImportColumns, presentColumns, restoreCell } from "../csv/ContactColumns.ts"
import { foldWord, type ImportMapping } from "../csv/ImportMapping.ts"
import type { ImportRow } from "../csv/ImportRow.ts"
import type { ConsentMeaning } from "../headings/ConsentHeadings.ts"
import { type ConsentTally, makeConsentTally } from "../headings/ConsentTally.ts"
import { fieldNearHeading } from "../headings/KnownHeadings.ts"
import { type CellForm, formOf, looksWronglyDecoded } from "./CellForms.ts"
import { looksEscaped, standsForNothing } from "./Remnants.ts"

/** The kinds of warnings. */
export const WarningCode = Schema.Literals([
  "NoRows",
  "Consent",
  "Blanks",
  "Domain",
  "Decoding",
  "Nothing",
  "Escaped",
  "Forms",
  "Kind",
  "Heading",
  "Active",
  "DefaultStatus",
  "Statuses",
  "OptOut"
])
export type WarningCode = typeof WarningCode.Type

/** What is odd in a file, and is imported all the same. */
export class ImportWarning extends Schema.Opaque<ImportWarning>()(
  Schema.Struct({
    /**
     * What is odd: a file without rows, columns that say who wants mail and become fields, blanks around texts, domains without a dot, wrongly decoded
     * texts, signs of programs for nothing, texts that are still escaped, mixed forms, dates and numbers that rules cannot compare as they are, headings, missing statuses, contacts that a default
     * status does not reach, several statuses of one address, an opt-out in a row that is rejected for another with its address.
     */
    code: WarningCode,
    /** What is odd, in words. */
    warning: Schema.String,
    /** The heading of the column, if it is one. */
    column: Schema.optionalKey(Schema.String),
    /** The field that the heading of a column probably means. */
    field: Schema.optionalKey(Schema.String),
    /** The kinds that the texts of a column may be of, as a mapping names them; several if only a person knows which. */
    kinds: Schema.optionalKey(Schema.Array(Schema.String)),
    /** What a mapping to Status says of its words; `*` is any other text, and an empty value says nothing. */
    words: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    /** The number of its cells, rows or addresses; of a column that says who wants mail that of refusals; of mixed forms those that have not the most frequent one; of a heading 1. */
    count: Schema.Int,
    /** The first of them, up to 3: the lines and the texts, up to 100 characters of each; of mixed forms the first of each form. */
    examples: Schema.Array(Schema.Struct({ line: Schema.Int, value: Schema.String }))
  })
) {}

/** Numbers beyond which nothing is told apart: a header may have a million columns. */
const mostGroups = 1000
/** The share of the texts of a column that have to be dates or numbers, so that it is asked whether all are. */
export const kindShare = 0.95
const shownExamples = 3
const longestExample = 100

type Example = ImportWarning["examples"][number]

interface Form extends CellForm {
  count: number
  readonly first: Example
}

interface Column {
  readonly at: number
  readonly heading: string
  /** Whether blanks around its texts are kept. */
  readonly keepsBlanks: boolean
  readonly isEmail: boolean
  /** Whether its texts may be numbers or dates, of which nothing is said. */
  readonly isCustom: boolean
  /** The number of its texts so far. */
  readonly filled: { count: number }
  readonly words: { readonly has: (word: string) => boolean } | undefined
}

const columnsOf = (
  names: ReadonlyArray<string>,
  { targets, trims }: ImportColumns,
  filledOf: (heading: string) => Column["filled"]
): ReadonlyArray<Column> =>
  targets.flatMap((target, at): ReadonlyArray<Column> => {
    if (target._tag === "Unnamed" || target._tag === "LeftOut") return []
    if (target._tag === "Lists") {
      const heading = restoreCell(names[at] ?? "").trim()
      return [
        { at, heading, keepsBlanks: false, isEmail: false, isCustom: false, filled: { count: 0 }, words: undefined }
      ]
    }
    const isCustom = target._tag === "Custom" && target.kind === undefined
    const isEmail = target._tag === "Record" && target.field.wire === "Email"
    const keepsBlanks =
      !trims && !isEmail && target.kind === undefined && (target._tag === "Custom" || target.field.kind === "text")
    const heading = restoreCell(names[at] ?? "").trim()
    return [{ at, heading, keepsBlanks, isEmail, isCustom, filled: filledOf(heading), words: target.words }]
  })

/** What is counted as it is found, by column if it is of one. */
const oddities = ["Blanks", "Domain", "Decoding", "Nothing", "Escaped", "Active", "Statuses", "OptOut"] as const

const codeWords: { readonly [Code in (typeof oddities)[number]]: string } = {
  Blanks: "blanks around the text are kept",
  Domain: "the domain of the address has no dot",
  Decoding: "the text looks wrongly decoded",
  Nothing: "the text is what a program writes for nothing",
  Escaped: "the text is still escaped",
  Active: "there is no status, so a new contact becomes Active",
  Statuses: "the rows of one address have several statuses, of which the strictest is taken",
  OptOut: "the row says that the person wants no mail, and is rejected, since another row has its address"
}

/** What is odd in a heading. */
const headingWords = {
  Decoding: "the heading looks wrongly decoded",
  Nothing: "the heading is what a program writes for nothing",
  Escaped: "the heading is still escaped"
} as const

const oddHeading = (heading: string): keyof typeof headingWords | undefined => {
  if (looksWronglyDecoded(heading)) return "Decoding"
  return standsForNothing(heading) ? "Nothing" : looksEscaped(heading) ? "Escaped" : undefined
}

interface ConsentOfColumn {
  readonly column: string
  readonly tally: ConsentTally
  readonly examples: Array<Example>
}

/**
 * Makes a collector of the columns that say who wants mail, and that nobody mapped or kept. It looks at no other columns, so
 * that it costs a file without such nothing.
 */
export const makeConsentWarnings = (): Omit<ImportWarnings, "addRepeat"> => {
  const columns = new Map<string, ConsentOfColumn>()
  const columnOf = (column: string, says: ConsentMeaning): ConsentOfColumn | undefined => {
    const known = columns.get(column)
    if (known !== undefined || columns.size >= mostGroups) return known
    const made = { column, tally: makeConsentTally(says), examples: [] }
    columns.set(column, made)
    return made
  }
  return {
    add: ({ consent = [], line }) => {
      for (const { column, says, text } of consent) {
        const of = columnOf(column, says)
        if (of === undefined || !of.tally.add(text) || of.examples.length >= shownExamples) continue
        of.examples.push({ line, value: text.trim().slice(0, longestExample) })
      }
    },
    all: () =>
      Array.from(columns.values()).flatMap(({ column, examples, tally }): ReadonlyArray<ImportWarning> => {
        const found = tally.found()
        if (found === undefined) return []
        const { refusals, words } = found
        const warning = `it says who wants mail (${refusals === 0 ? "nobody" : refusals} said no), and becomes a custom field`
        return [{ code: "Consent", warning, column, words, count: refusals, examples }]
      })
  }
}

/** Collects the warnings about rows. */
export interface ImportWarnings {
  /** Looks at a row. */
  readonly add: (row: ImportRow) => void
  /** Notes what rows of one address tell. */
  readonly addRepeat: (code: "Statuses" | "OptOut", example: ImportWarning["examples"][number]) => void
  /** The warnings so far, those of one kind together. */
  readonly all: () => ReadonlyArray<ImportWarning>
}

/** Makes a collector for rows that were read by a mapping. With `defaultsStatus` a missing status is no warning. */
export const makeImportWarnings = (
  mapping: ImportMapping = {},
  { defaultsStatus = false }: { readonly defaultsStatus?: boolean } = {}
): ImportWarnings => {
  const groups = new Map<
    string,
    { readonly code: WarningCode; readonly column?: string; count: number; readonly examples: Array<Example> }
  >()
  const forms = new Map<string, Map<string, Form>>()
  const filledBy = new Map<string, Column["filled"]>()
  const filledOf = (heading: string): Column["filled"] => {
    const known = filledBy.get(heading) ?? { count: 0 }
    if (filledBy.size < mostGroups) filledBy.set(heading, known)
    return known
  }
  const nearHeadings = new Map<string, string>()
  const oddHeadings = new Map<string, keyof typeof headingWords>()
  const columnsByKey = new Map<string, ReadonlyArray<Column>>()
  let lastNames: ReadonlyArray<string> | undefined
  let lastColumns: ReadonlyArray<Column> = []

  const warn = (code: WarningCode, column: string | undefined, example?: Example): void => {
    const key = `${code} ${column ?? ""}`
    let group = groups.get(key)
    if (group === undefined) {
      if (groups.size >= mostGroups) return
      group = { code, ...(column === undefined ? {} : { column }), count: 0, examples: [] }
      groups.set(key, group)
    }
    group.count++
    if (example === undefined || group.examples.length >= shownExamples) return
    group.examples.push({ line: example.line, value: example.value.slice(0, longestExample) })
  }

  const lookAtHeadings = (columns: ReadonlyArray<Column>, names: ReadonlyArray<string>): void => {
    const present = new Set(names.map((name) => name.toLowerCase()))
    for (const { heading, isCustom } of columns.slice(0, mostGroups)) {
      const isMapped = Object.keys(mapping.columns ?? {}).some((name) => foldWord(name) === foldWord(heading))
      const field = isCustom && !isMapped ? fieldNearHeading(heading) : undefined
      if (field !== undefined && !present.has(field.toLowerCase())) nearHeadings.set(heading, field)
      const code = oddHeading(heading)
      if (code !== undefined) oddHeadings.set(heading, code)
    }
  }

  /** The columns of these headings. Those of an object of JSON are its names. */
  const columnsBy = (names: ReadonlyArray<string>): ReadonlyArray<Column> => {
    if (names === lastNames) return lastColumns
    const key = JSON.stringify(names)
    let columns = columnsByKey.get(key)
    if (columns === undefined) {
      const read = importColumns(names, presentColumns(names, mapping))
      columns = Result.isSuccess(read) ? columnsOf(names, read.success, filledOf) : []
      if (columnsByKey.size >= mostGroups) columnsByKey.clear()
      columnsByKey.set(key, columns)
      lookAtHeadings(columns, names)
    }
    lastNames = names
    lastColumns = columns
    return columns
  }

  const addForm = (heading: string, line: number, text: string): void => {
    const form = formOf(text)
    if (form === undefined) return
    const key = `${form.of} ${heading}`
    let of = forms.get(key)
    if (of === undefined) {
      if (forms.size >= mostGroups) return
      forms.set(key, (of = new Map()))
    }
    const name = `${form.form}${form.isUnclear ?? ""}`
    const sameForm = of.get(name)
    if (sameForm === undefined) of.set(name, { ...form, count: 1, first: { line, value: text } })
    // One that is plain says nothing of how the others are read.
    else of.set(name, { ...sameForm, ...form, count: sameForm.count + 1 })
  }

  const add = (row: ImportRow): void => {
    const { contact, line, record } = row
    const status = Result.isSuccess(contact) ? contact.success.status : undefined
    if (!defaultsStatus && status === undefined) warn("Active", undefined)
    if (record === undefined) return
    const { cells, names } = record
    for (const { at, filled, heading, isCustom, isEmail, keepsBlanks, words } of columnsBy(names)) {
      const text = restoreCell(cells[at] ?? "")
      if (text === "" || (words !== undefined && words.has(foldWord(text)))) continue
      if (keepsBlanks && text.trim() !== text) warn("Blanks", heading, { line, value: text })
      if (isEmail && !text.includes(".", text.lastIndexOf("@"))) warn("Domain", heading, { line, value: text.trim() })
      if (looksWronglyDecoded(text)) warn("Decoding", heading, { line, value: text })
      if (looksEscaped(text)) warn("Escaped", heading, { line, value: text })
      const isNothing = standsForNothing(text)
      if (isNothing) warn("Nothing", heading, { line, value: text })
      if (!isCustom || isNothing) continue
      filled.count++
      addForm(heading, line, text)
    }
  }

  const ofForms = (): ReadonlyArray<ImportWarning> =>
    Array.from(forms).flatMap(([key, of]): ReadonlyArray<ImportWarning> => {
      const all = Array.from(of.values())
      const clear = all.filter(({ form, isUnclear }) => {
        const separator = form.charAt(2)
        return (
          isUnclear === undefined ||
          !all.some((other) => other.isUnclear === undefined && other.form.charAt(2) === separator)
        )
      })
      const sorted = clear.toSorted((one, other) => other.count - one.count)
      const [most] = sorted
      if (most === undefined) return []
      const column = key.slice(most.of.length + 1)
      const examples = sorted.slice(0, shownExamples).map(({ first }) => first)
      if (sorted.length > 1) {
        const warning = `${most.of} of mixed forms: ${sorted.map(({ count, form }) => `${form} (${count})`).join(", ")}`
        return [
          {
            code: "Forms",
            warning,
            column,
            count: sorted.slice(1).reduce((sum, { count }) => sum + count, 0),
            examples
          }
        ]
      }
      const { kinds } = most
      const count = all.reduce((sum, { count }) => sum + count, 0)
      if (kinds === undefined || count < filledOf(column).count * kindShare) return []
      const which = kinds.length > 1 ? ", of which it is not clear what is the day" : ""
      return [
        {
          code: "Kind",
          warning: `${most.of} are stored as texts, which no rule compares${which}`,
          column,
          kinds,
          count,
          examples
        }
      ]
    })

  const all = (): ReadonlyArray<ImportWarning> => [
    ...Array.from(nearHeadings, ([column, field]): ImportWarning => ({
      code: "Heading",
      warning: `the heading is one letter from ${field}, and becomes a custom field`,
      column,
      field,
      count: 1,
      examples: []
    })),
    ...Array.from(oddHeadings, ([column, code]): ImportWarning => ({
      code,
      warning: headingWords[code],
      column,
      count: 1,
      examples: []
    })),
    ...oddities.flatMap((code) => [
      ...(code === "Active" ? ofForms() : []),
      ...Array.from(groups.values())
        .filter((group) => group.code === code)
        .map((group): ImportWarning => ({ ...group, warning: codeWords[code] }))
    ])
  ]
  return { add, addRepeat: (code, example) => warn(code, undefined, example), all }
}
