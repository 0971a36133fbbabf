/** What the person says about the columns and words of a file, with proposals for what they have not said: one mapping. */
import { type ContactStatus, ImportMapping, isMailedStatus, ListsText, type OnDuplicate } from "@roster/domain"
import {
  type ConsentColumn,
  consentOfHeading,
  ContactColumns,
  ContactFields,
  FieldNames,
  formOf,
  isDateKind,
  kindShare,
  makeConsentTally,
  makeKindReader,
  statusOfWord,
  yesOrNo
} from "@roster/domain/internal"
import { nearField } from "@roster/workflows"
import { Schema, Struct } from "effect"
import { importTexts } from "../texts/ImportTexts.ts"
import { type ColumnSight, type ColumnValue, type FileSight, readingKeys } from "./thread/FileSight.ts"
import { fieldTitle } from "../texts/SharedTexts.ts"

/** What the person has changed: the target of a column by its key, and values of words by field or column; null for none. */
export interface Edits {
  readonly columns: Readonly<Record<string, string | null>>
  readonly values: Readonly<Record<string, Readonly<Record<string, string | null>>>>
  /** What the texts of columns are, by their keys; empty for texts as they stand. */
  readonly kinds: Readonly<Record<string, string>>
  /** What all rows get, by the field. */
  readonly constants: Readonly<Record<string, string>>
  /** The custom fields that are new though their names are nearly those of others. */
  readonly newFields: ReadonlyArray<string>
}

/** Nothing was changed. */
export const noEdits: Edits = { columns: {}, values: {}, kinds: {}, constants: {}, newFields: [] }

/** A column of a file and what becomes of it. */
export interface ColumnChoice {
  /** How a mapping names it: by its heading, or as `#2` where that is empty or not the only one. */
  readonly key: string
  readonly sight: ColumnSight
  /** The field; `null` for a column that is left out. */
  readonly field: string | null
  /** Whether the field is a custom one. */
  readonly isCustom: boolean
  /** The field that may be meant by the name of a new one, until a person says which. */
  readonly near: string | undefined
  /** What its texts are, as a mapping names it; empty for texts as they stand. */
  readonly kind: string
  /** The kinds that its texts look like; several if only a person knows which. */
  readonly kinds: ReadonlyArray<string>
  /** The kinds that it may be given besides; none if its field has a form of its own. */
  readonly otherKinds: ReadonlyArray<string>
  /** What its cells say of who wants mail, if they do. */
  readonly consent: ConsentColumn | undefined
  /** Whether it does, and nobody has said yet what becomes of it. */
  readonly isUnheard: boolean
}

/** The fields that a column may become, by their names. */
export const recordFields: ReadonlyArray<string> = [
  ...ContactFields.addedFields.map(({ wire }) => wire),
  ListsText.listsColumn
]

const recordByName = new Map(recordFields.map((name) => [name.toLowerCase(), name]))

const headingOf = (name: string): string => ContactColumns.restoreCell(name).trim()

const keysOf = ({ columns, header }: FileSight): ReadonlyArray<string> => {
  const headings = columns.map(({ name }) => headingOf(name).toLowerCase())
  const isJson = header?.format !== undefined
  return columns.map(({ name }, index) => {
    const heading = headings[index] ?? ""
    const isFirst = headings.indexOf(heading) === index
    return isJson || (heading !== "" && isFirst && !heading.startsWith("#")) ? headingOf(name) : `#${index + 1}`
  })
}

const looksLikeAddresses = ({ values }: ColumnSight): boolean =>
  values.length > 0 && values.slice(0, 5).every(({ value }) => /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(value))

/** What each column probably is. No two become the same field. */
const proposals = (sight: FileSight, known: ReadonlyArray<string>): ReadonlyArray<string | null> => {
  const { columns } = sight
  const headings = columns.map(({ name }) => headingOf(name))
  const likely = ContactColumns.likelyFields(headings)
  const custom = new Map(known.map((name) => [FieldNames.foldName(name), name]))
  const taken = new Set<string>()
  const first = headings.map((heading) => {
    const name =
      recordByName.get(heading.toLowerCase()) ??
      likely[heading] ??
      custom.get(FieldNames.foldName(heading)) ??
      (heading === "" || ContactColumns.isRecordColumn(heading) ? null : heading)
    if (name === null || taken.has(FieldNames.foldName(name))) return null
    taken.add(FieldNames.foldName(name))
    return name
  })
  if (taken.has("email")) return first
  const at = columns.findIndex(looksLikeAddresses)
  return at < 0 ? first : first.with(at, "Email")
}

/** What the cells of a column say of who wants mail, as far as it is looked at. */
const consentOf = ({ name, values }: ColumnSight): ConsentColumn | undefined => {
  const says = recordByName.has(headingOf(name).toLowerCase()) ? undefined : consentOfHeading(headingOf(name))
  if (says === undefined) return undefined
  const tally = makeConsentTally(says)
  for (const { count, value } of values) tally.add(value, count)
  return tally.found()
}

/** The kinds that are offered for a column, whatever its texts look like. */
const usualKinds = [
  ...["DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY", "YYYY/MM/DD"].map((form) => `date:${form}`),
  "date",
  ...["1.234,56", "1,234.56", "1 234,56", "1'234.56"].map((form) => `number:${form}`),
  "boolean"
]

/** The kinds that read most texts of a column: several if they read them as different values. */
const kindsOf = ({ values }: ColumnSight): ReadonlyArray<string> => {
  const found = new Set(values.flatMap(({ value }) => formOf(value)?.kinds ?? []))
  const areAnswers = values.length > 0 && values.every(({ value }) => yesOrNo(value) !== undefined)
  const read = [...found, ...(areAnswers ? ["boolean"] : [])].map((kind) => {
    const reader = makeKindReader(kind)
    const texts = values.map(({ value }) => reader(value))
    return { kind, texts, rows: values.reduce((sum, { count }, at) => sum + (texts[at] === undefined ? 0 : count), 0) }
  })
  const best = Math.max(...read.map(({ rows }) => rows))
  const enough = kindShare * values.reduce((sum, { count }) => sum + count, 0)
  const most = read.filter(({ rows }) => rows === best && rows >= enough)
  return [...new Map(most.toReversed().map(({ kind, texts }) => [texts.join("\n"), kind])).values()].toReversed()
}

/** What the texts of a kind are, in words. */
export const kindText = (kind: string): string => {
  const form = kind.slice(kind.indexOf(":") + 1)
  const { dates, isoDates, numbers, yesOrNo } = importTexts.kinds
  if (kind === "boolean") return yesOrNo
  if (kind === "date") return isoDates
  return kind.startsWith("date:") ? dates(form) : numbers(form)
}

/** What to choose of the kinds that texts look like. Answers are texts that rules compare. */
export const kindAdvice = (kinds: ReadonlyArray<string>): string | undefined => {
  const compared = kinds.filter((kind) => kind !== "boolean").map(kindText)
  return compared.length === 0 ? undefined : importTexts.kindAdvice(compared)
}

const isSameName = (one: string, other: string): boolean =>
  FieldNames.foldName(one.trim()) === FieldNames.foldName(other.trim())

/** The columns with what becomes of each. */
export const columnChoices = (
  sight: FileSight,
  edits: Edits,
  known: ReadonlyArray<string>
): ReadonlyArray<ColumnChoice> => {
  const keys = keysOf(sight)
  const proposed = proposals(sight, known)
  const isKnown = new Set([...known, ...edits.newFields].map(FieldNames.foldName))
  const isExport = ContactColumns.isExportHeader(sight.columns.map(({ name }) => headingOf(name)))
  return sight.columns.map((column, index) => {
    const key = keys[index] ?? ""
    const edited = edits.columns[key]
    const field = edited === undefined ? (proposed[index] ?? null) : edited
    const record = field === null ? undefined : recordByName.get(field.trim().toLowerCase())
    const isCustom = field !== null && record === undefined
    const isKept = edited !== undefined && field !== null && isSameName(field, headingOf(column.name))
    const near =
      isCustom && !isKept && !isKnown.has(FieldNames.foldName(field.trim())) ? nearField(field, known) : undefined
    const consent = isExport ? undefined : consentOf(column)
    const isUnheard = consent !== undefined && isCustom && edited === undefined
    const mayBe = (kind: string): boolean => isCustom || (record === "ConsentDate" && isDateKind(kind))
    const kinds = kindsOf(column).filter(mayBe)
    const kind = edits.kinds[key] ?? ""
    const otherKinds = [...new Set([...usualKinds.filter(mayBe), ...(kind === "" ? [] : [kind])])].filter(
      (one) => !kinds.includes(one)
    )
    return { key, sight: column, field: record ?? field, isCustom, near, kind, kinds, otherKinds, consent, isUnheard }
  })
}

/** Names that a saved mapping has and the file lacks. */
export const missingColumns = (sight: FileSight, edits: Edits): ReadonlyArray<string> => {
  const keys = new Set(keysOf(sight))
  return Object.keys(edits.columns).filter((key) => !keys.has(key))
}

// Words

/** A word of a column whose field takes a few values. */
export interface WordChoice extends ColumnValue {
  /** The value that it stands for, empty for one that says nothing; `undefined` until a person says it, and its rows are rejected. */
  readonly means: string | undefined
  /** Whether it is one of the values itself. */
  readonly isValue: boolean
}

/** The words of a column, and the values that its field takes. */
export interface WordChoices {
  readonly column: ColumnSight
  readonly field: string
  /** The name by which a mapping knows the words: the field, or the column where several become it. */
  readonly of: string
  readonly allowed: ReadonlyArray<string>
  readonly words: ReadonlyArray<WordChoice>
}

/** The word of a mapping that stands for all other texts. */
export const anyWord = "*"

const fold = (word: string): string => word.trim().toLowerCase()

/** The status that a word in a column of statuses means, as far as one can tell. */
const statusMeant = (word: string): string | undefined => {
  const answer = yesOrNo(word)
  return answer === undefined ? statusOfWord(word) : answer ? "Active" : "Unsubscribed"
}

/** The words of each column whose field takes a few values. */
export const wordChoices = (columns: ReadonlyArray<ColumnChoice>, edits: Edits): ReadonlyArray<WordChoices> =>
  columns.flatMap(({ consent, field, key, sight }) => {
    const of = ContactFields.addedFields.find(({ wire }) => wire === field)
    if (of?.kind !== "enumeration") return []
    const isOnly = columns.filter((column) => column.field === field).length === 1
    const name = isOnly && edits.values[key] === undefined ? of.wire : key
    const values = new Map(of.values.map((value) => [fold(value), value]))
    const said = { ...edits.values[of.wire], ...edits.values[key] }
    const edited = new Map(Object.entries(said).map(([word, value]) => [fold(word), value]))
    const answers = new Map(Object.entries(consent?.words ?? {}).map(([word, value]) => [fold(word), value]))
    const isAny = edited.has(anyWord) || answers.has(anyWord)
    const shown = isAny
      ? sight.values.filter(({ value }) => edited.has(fold(value)) || answers.has(fold(value)))
      : sight.values
    const others = sight.filled - shown.reduce((sum, { count }) => sum + count, 0)
    const words = [...shown, ...(isAny ? [{ value: anyWord, count: others }] : [])].map(
      ({ count, value }): WordChoice => {
        const word = fold(value)
        const own = values.get(word)
        const proposed = own ?? answers.get(word) ?? (of.wire === "Status" ? statusMeant(word) : undefined)
        return {
          value,
          count,
          isValue: own !== undefined,
          means: edited.has(word) ? (edited.get(word) ?? undefined) : proposed
        }
      }
    )
    return [{ column: sight, field: of.wire, of: name, allowed: of.values, words }]
  })

/** How many rows give a status with which contacts receive mail, and how many do not. */
export interface MailSum {
  readonly willReceive: number
  readonly willNot: number
  /** Rows without a word: a new contact is active, and a stored one keeps the status. */
  readonly unsaid: number
  /** Rows whose word stands for nothing yet. */
  readonly unclear: number
}

/** What the status column says of who receives mail; `undefined` without one, or with several. */
export const mailSum = (sight: FileSight, words: ReadonlyArray<WordChoices>): MailSum | undefined => {
  const [status, ...more] = words.filter(({ field }) => field === "Status")
  // Only the plan can say what several columns say together.
  if (status === undefined || more.length > 0) return undefined
  const sum = { willReceive: 0, willNot: 0, unsaid: sight.read - status.column.filled, unclear: 0 }
  let known = 0
  for (const { count, means } of status.words) {
    known += count
    sum[
      means === undefined ? "unclear" : means === "" ? "unsaid" : isMailedStatus(means) ? "willReceive" : "willNot"
    ] += count
  }
  sum.unclear += status.column.filled - known
  return sum
}

/** The mapping that says all of it, which the command line reads as well. */
export const mappingOf = (
  { reading }: FileSight,
  columns: ReadonlyArray<ColumnChoice>,
  words: ReadonlyArray<WordChoices>,
  constants: Edits["constants"]
): ImportMapping => {
  const kinds = columns.flatMap(({ field, key, kind }) => (field === null || kind === "" ? [] : [[key, kind] as const]))
  const headings = columns.map(({ sight }) => headingOf(sight.name))
  const likely = ContactColumns.likelyFields(headings)
  // What the heading says already is left out, unless the command line would ask about it.
  const named = columns.flatMap(({ consent, field, key, sight }) => {
    const heading = headingOf(sight.name)
    const isSaid = field === heading && key === heading && likely[heading] === undefined && consent === undefined
    const isIgnored =
      field === null && ContactColumns.isRecordColumn(heading) && !recordByName.has(heading.toLowerCase())
    return isSaid || isIgnored ? [] : [[key, field] as const]
  })
  const values = words.flatMap(({ of, words }) => {
    const said = words.flatMap(({ isValue, means, value }) =>
      means === undefined || (isValue && fold(means) === fold(value)) ? [] : [[value, means] as const]
    )
    return said.length === 0 ? [] : [[of, Object.fromEntries(said)] as const]
  })
  return {
    ...Struct.pick(reading, readingKeys),
    ...(named.length === 0 ? {} : { columns: Object.fromEntries(named) }),
    ...(values.length === 0 ? {} : { values: Object.fromEntries(values) }),
    ...(kinds.length === 0 ? {} : { kinds: Object.fromEntries(kinds) }),
    ...(Object.keys(constants).length === 0 ? {} : { constants })
  }
}

/** What a saved mapping says, as edits. */
export const editsOf = ({ columns = {}, constants = {}, kinds = {}, values = {} }: ImportMapping): Edits => ({
  columns,
  kinds,
  constants,
  newFields: [],
  values: Object.fromEntries(
    Object.entries(values).map(([field, words]) => [recordByName.get(field.trim().toLowerCase()) ?? field, words])
  )
})

/** Why this cannot be planned yet, in words, or `undefined`. */
export const choiceProblem = (columns: ReadonlyArray<ColumnChoice>): string | undefined => {
  const seen = new Set<string>()
  for (const { field, isUnheard, key, near } of columns) {
    if (field === null) continue
    if (isUnheard) return importTexts.unheard(key)
    if (near !== undefined) return importTexts.nearField(field, fieldTitle(near))
    if (field.trim() === "") return importTexts.unnamed(key)
    const name = FieldNames.foldName(field.trim())
    if (seen.has(name) && field !== "Status") return importTexts.twoColumns(fieldTitle(field))
    seen.add(name)
    if (ContactColumns.isRecordColumn(field.trim()) && !recordByName.has(field.trim().toLowerCase())) {
      return importTexts.onlyService(fieldTitle(field), key)
    }
  }
  return seen.has("email") ? undefined : importTexts.noAddresses
}

// All rows

const isMapping = Schema.is(ImportMapping)

/** Why the values of all rows cannot be taken, in words, or `undefined`. */
export const constantProblem = (
  constants: Edits["constants"],
  columns: ReadonlyArray<ColumnChoice>
): string | undefined => {
  const taken = new Set(columns.flatMap(({ field }) => (field === null ? [] : [FieldNames.foldName(field.trim())])))
  for (const [field, value] of Object.entries(constants)) {
    const title = fieldTitle(field)
    if (value.trim() === "") return importTexts.writeValue(title)
    if (field !== "Status" && taken.has(FieldNames.foldName(field))) return importTexts.columnBecomes(title)
    if (!isMapping({ constants: { [field]: value } })) return importTexts.noValue(value, title)
  }
  return undefined
}

/** What is said of all rows. */
export interface RowChoices {
  /** Whether only new contacts are written to, or only existing ones. */
  readonly only: "existing" | "new" | undefined
  /** The status of new contacts whose rows give none (default: Active). */
  readonly defaultStatus: ContactStatus | undefined
  /** Which row of an address is imported: the last, the first, or none. */
  readonly onDuplicate: OnDuplicate
  /** Whether nothing is imported if something looks odd in the rows. */
  readonly failsOnWarning: boolean
  /** Whether an empty cell clears a name or custom field. */
  readonly isCleared: boolean
  /** Whether cells are taken without the blanks around their texts. */
  readonly isTrimmed: boolean
  /** The form of the dates, such as `DD.MM.YYYY`; empty for ISO 8601. */
  readonly dateFormat: string
}

/** What holds if nothing is said. */
export const usualRows: RowChoices = {
  only: undefined,
  defaultStatus: undefined,
  onDuplicate: "last",
  failsOnWarning: false,
  isCleared: false,
  isTrimmed: false,
  dateFormat: ""
}

/** What of it a mapping says. */
export const cellsOf = ({ dateFormat, isCleared, isTrimmed }: RowChoices): ImportMapping => ({
  ...(isCleared ? { empty: "clear" } : {}),
  ...(isTrimmed ? { trim: true } : {}),
  ...(dateFormat.trim() === "" ? {} : { dateFormat: dateFormat.trim() })
})

/** What a saved mapping says of all rows, and what else was said of them. */
export const rowsOf = ({ dateFormat = "", empty, trim = false }: ImportMapping, rows: RowChoices): RowChoices => ({
  ...rows,
  isCleared: empty === "clear",
  isTrimmed: trim,
  dateFormat
})

/** Why rows cannot be planned so, in words, or `undefined`. */
export const rowProblem = (rows: RowChoices): string | undefined =>
  isMapping(cellsOf(rows)) ? undefined : importTexts.dateFormProblem
