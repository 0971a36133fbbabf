/** The columns and cells of a CSV file of contacts. (docs/decisions/csv.md) */
import { Result, Schema } from "effect"
import { type Contact, ContactPayload } from "../contacts/Contact.ts"
import { allFields, type ContactField, isOwn, nameInCode, wireRecordOf } from "../contacts/ContactFields.ts"
import { isMailedStatus } from "../contacts/ContactRecord.ts"
import { type ContactIssue, maximumCustomFieldName } from "../contacts/ContactSize.ts"
import { address, isRefusal, oneOf, readDate, refuse } from "../contacts/FastContactCodec.ts"
import { emailAddressIssue } from "../contacts/EmailAddress.ts"
import { listsColumn, readLists, writeLists } from "../lists/ListsText.ts"
import { strictnessOf, stricterStatus } from "../contacts/StatusLadder.ts"
import { didYouMean } from "../values/DidYouMean.ts"
import { foldName, maximumNames } from "../values/FieldNames.ts"
import { schemaProblem } from "../errors/InvalidInput.ts"
import { isDateKind, makeKindReader } from "../kinds/ColumnKind.ts"
import { makeDateReader } from "../kinds/DateForm.ts"
import { storedTextReaders, type StoredTextReaders } from "../kinds/StoredText.ts"
import { type ConsentMeaning, consentOfHeading } from "../headings/ConsentHeadings.ts"
import { fieldsOfHeadings } from "../headings/KnownHeadings.ts"
import { formatWireDate } from "../values/WireDate.ts"
import { wireField } from "../values/WireRecord.ts"
import { errorColumn, importedByName, isImported, isListsColumn, isRecordColumn } from "./ColumnNames.ts"
import { contactIssue } from "./ContactIssue.ts"
import { anyWord, type ColumnMap, fieldIssue, foldWord, type ImportMapping, valueIssue } from "./ImportMapping.ts"
import {
  addressProblem,
  cellText,
  isHidden,
  likelyAddresses,
  type RowProblem,
  rowProblem,
  wordProblem
} from "./CellProblems.ts"

export { errorColumn, isImported, isListsColumn, isRecordColumn }

/**
 * What a spreadsheet runs: at the beginning, and behind what may separate cells, where a quote may open the cell.
 * Apostrophes may precede it.
 */
const formula = /^'*[=+\-@＝＋－＠\t\r\n\0]|[,;\t|\r\n]['"]*[=+\-@＝＋－＠]/
const innerFormula = /(?<=[,;\t|\r\n])(?=['"]*[=+\-@＝＋－＠])/g
/** What `protectCell` writes, behind its first apostrophe. */
const protectedFormula = /^'*[=+\-@＝＋－＠\t\r\n\0]|[,;\t|\r\n]'['"]*[=+\-@＝＋－＠]/
const innerApostrophe = /(?<=[,;\t|\r\n])'(?=['"]*[=+\-@＝＋－＠])/g

/**
 * Protects a cell with a formula by an apostrophe at its beginning, and one more before each formula behind a character
 * that may separate cells. What has apostrophes there gets as many more, so that every text is restored.
 */
export const protectCell = (text: string): string =>
  formula.test(text) ? `'${text.replaceAll(innerFormula, "'")}` : text

/** Restores the text of a cell that may have been protected. */
export const restoreCell = (cell: string): string => {
  if (!cell.startsWith("'")) return cell
  const text = cell.slice(1)
  return protectedFormula.test(text) ? text.replaceAll(innerApostrophe, "") : cell
}

/** The header of an exported file, given the names of its custom fields, and whether it has lists. */
export const exportHeader = (customFields: ReadonlyArray<string>, lists = false): ReadonlyArray<string> => [
  ...allFields.map(({ wire }) => wire),
  ...(lists ? [listsColumn] : []),
  ...customFields.map(protectCell)
]

/** The cells of a contact under the header of `exportHeader`. */
export const exportCells = (
  contact: Contact,
  customFields: ReadonlyArray<string>,
  lists = false
): ReadonlyArray<string> => {
  const own = contact.customFields ?? {}
  return [
    ...allFields.map(({ read }) => {
      const value = read(contact)
      if (value === null || value === undefined) return ""
      if (typeof value === "number") return String(value)
      return protectCell(typeof value === "string" ? value : formatWireDate(value))
    }),
    ...(lists ? [protectCell(writeLists(contact.lists ?? []))] : []),
    ...customFields.map((name) => protectCell(Object.hasOwn(own, name) ? (own[name] ?? "") : ""))
  ]
}

/** A header may have a million columns, or one of 8 MiB; those of a person are among the first, and short. */
const consideredColumns = 1000
const longestName = 100

/** How a cell becomes the value of a field. */
interface Filled {
  /** The name in code, in the record of the group if there is one. */
  readonly name: string
  readonly group: string | undefined
  readonly words: Words | undefined
  /** What the texts are, if a mapping says so, and how they are read. */
  readonly kind: Kind | undefined
  /** Whether an empty cell removes the field. */
  readonly isCleared: boolean
  /** The text of a cell as the wire has it, after its words were replaced. */
  readonly toWire: (text: string) => string
  /** The value that a text of the wire is, or throws what `isRefusal` knows. */
  readonly decode: (text: string) => unknown
}

/** What a cell becomes. */
type Target =
  | (Filled & { readonly _tag: "Record"; readonly field: ContactField })
  | (Filled & { readonly _tag: "Custom" })
  | { readonly _tag: "Lists" }
  | { readonly _tag: "Unnamed" }
  | { readonly _tag: "LeftOut" }

type FilledTarget = Extract<Target, Filled>

const isFilled = (target: Target): target is FilledTarget => target._tag === "Record" || target._tag === "Custom"

/** The values that stand for words, by the word in the form of `foldWord`. */
type Words = ReadonlyMap<string, string>

/** What the texts of a column are, and how they are read; a text that is none of it is `undefined`. */
interface Kind {
  readonly name: string
  readonly read: (text: string) => string | undefined
}

/** What each column of a file is imported into. */
export interface ImportColumns {
  /** What each column becomes, in their order. A text below a column without a name is a problem of its row. */
  readonly targets: ReadonlyArray<Target>
  /** The place of the column of lists. */
  readonly lists?: number | undefined
  /** The places of columns without a name. */
  readonly unnamed: ReadonlyArray<number>
  /** What fields have in all rows, as the wire has it. */
  readonly constants: ReadonlyArray<{ readonly target: FilledTarget; readonly text: string }>
  /** The columns that become custom fields though their headings may say who wants mail, and no mapping names them. */
  readonly consent: ReadonlyArray<{ readonly at: number; readonly column: string; readonly says: ConsentMeaning }>
  /** Whether the blanks around texts are taken off. */
  readonly trims: boolean
}

/** What a mapping says of columns and cells. */
type CellMapping = Pick<ImportMapping, "columns" | "values" | "kinds" | "constants" | "empty" | "trim" | "dateFormat">

/** What a header says, in an error. */
const wordsOf = (names: ReadonlyArray<string>): string =>
  names.length === 0
    ? "it is empty"
    : `it reads ${names
        .slice(0, 10)
        .map((name) => JSON.stringify(name.slice(0, 40)))
        .join(", ")}`

/** The names of columns, as a mapping knows them. */
export const namesIn = (header: ReadonlyArray<string>): ReadonlyArray<string> =>
  header.map((cell) => restoreCell(cell).trim())

/** The place of a column that a mapping means: by its heading, else by its number, as `#2`. */
export const placeOf = (names: ReadonlyArray<string>, column: string): number | undefined => {
  const name = column.trim()
  const exact = names.indexOf(name)
  if (exact >= 0) return exact
  const alike = names.findIndex((other) => other.toLowerCase() === name.toLowerCase())
  if (alike >= 0) return alike
  const number = /^#[1-9]\d*$/.test(name) ? Number(name.slice(1)) : 0
  return number > 0 && number <= names.length ? number - 1 : undefined
}

/** How a mapping names a column of a header: by its heading, or as `#2` where that has a sign that flags divide by. */
export const columnKey = (header: ReadonlyArray<string>, column: string): string =>
  column.includes(":") ? `#${(placeOf(namesIn(header), column) ?? 0) + 1}` : column

/** The part of a mapping whose columns a header has. */
export const presentColumns = (header: ReadonlyArray<string>, mapping: ImportMapping): ImportMapping => {
  const names = namesIn(header)
  const present = <A>(by: Readonly<Record<string, A>> = {}): Readonly<Record<string, A>> =>
    Object.fromEntries(Object.entries(by).filter(([column]) => placeOf(names, column) !== undefined))
  const fields = new Set(Object.values(mapping.columns ?? {}).map((field) => foldName(field?.trim() ?? "")))
  const isMeant = (key: string): boolean =>
    fields.has(foldName(key.trim())) || importedByName.has(foldName(key.trim())) || placeOf(names, key) !== undefined
  const values = Object.entries(mapping.values ?? {}).filter(([key]) => isMeant(key))
  return {
    ...mapping,
    ...(mapping.values === undefined ? {} : { values: Object.fromEntries(values) }),
    ...(mapping.columns === undefined ? {} : { columns: present(mapping.columns) }),
    ...(mapping.kinds === undefined ? {} : { kinds: present(mapping.kinds) })
  }
}

/** Why a mapping cannot name a column that the header has not. */
const noColumn = (header: ReadonlyArray<string>, column: string): string => {
  const meant = didYouMean(column, namesIn(header))
  return `the header has no column "${column}"; ${meant === undefined ? "" : `${meant} `}${wordsOf(header)}`
}

/** The name of each column after mapping, null for one that is left out, and the places of those that the mapping names. */
const namesBy = (
  header: ReadonlyArray<string>,
  map: ColumnMap
): Result.Result<{ readonly names: ReadonlyArray<string | null>; readonly mapped: ReadonlySet<number> }, string> => {
  const names = namesIn(header)
  const renamed: Array<string | null> = [...names]
  const mapped = new Set<number>()
  for (const [column, field] of Object.entries(map)) {
    const issue = field === null ? undefined : fieldIssue(field)
    if (issue !== undefined) return Result.fail(issue)
    const at = placeOf(names, column)
    if (at === undefined) {
      return Result.fail(noColumn(header, column))
    }
    if (mapped.has(at)) return Result.fail(`the mapping names the column "${column}" twice`)
    mapped.add(at)
    renamed[at] = field?.trim() ?? null
  }
  return Result.succeed({ names: renamed, mapped })
}

/** The words of each field and of each column, in the form of `foldWord`, or what is wrong with them. */
const wordsBy = (
  header: ReadonlyArray<string>,
  fields: ReadonlyArray<string | null>,
  values: NonNullable<ImportMapping["values"]>
): Result.Result<(at: number, field: string) => Words | undefined, string> => {
  const names = namesIn(header)
  const isField = new Set(fields.map((name) => (name === null ? "" : foldName(name))))
  const byField = new Map<string, Map<string, string>>()
  const byColumn = new Map<number, Map<string, string>>()
  for (const [key, words] of Object.entries(values)) {
    const field = foldName(key.trim())
    const at = isField.has(field) || importedByName.has(field) ? undefined : placeOf(names, key)
    if (at === undefined && !isField.has(field) && !importedByName.has(field)) {
      const meant = didYouMean(key.trim(), [...Array.from(importedByName.values(), ({ wire }) => wire), ...names])
      return Result.fail(
        `the mapping has words of "${key.trim()}", which is no field and no column; ${meant === undefined ? "" : `${meant} `}${wordsOf(header)}`
      )
    }
    const known = (at === undefined ? byField.get(field) : byColumn.get(at)) ?? new Map<string, string>()
    if (at === undefined) byField.set(field, known)
    else byColumn.set(at, known)
    for (const [word, value] of Object.entries(words)) {
      const issue = at === undefined ? undefined : valueIssue(fields[at] ?? "", value)
      if (issue !== undefined) return Result.fail(issue)
      // An empty cell says nothing.
      if (word.trim() !== "") known.set(foldWord(word), value)
    }
  }
  return Result.succeed((at, field) => {
    const own = byColumn.get(at)
    const all = byField.get(field)
    return own === undefined || all === undefined ? (own ?? all) : new Map([...all, ...own])
  })
}

/** Whether a cell has an address and nothing else. */
export const isAddress = (cell: string): boolean => emailAddressIssue(restoreCell(cell).trim()) === undefined

/** Reads a header. Names are equal by the fold of rules, mapped columns are renamed, and unknown names become custom fields. */
export const importColumns = (
  header: ReadonlyArray<string>,
  { columns: map = {}, constants = {}, dateFormat, empty, kinds = {}, trim = false, values = {} }: CellMapping = {}
): Result.Result<ImportColumns, string> => {
  const named = namesBy(header, map)
  if (Result.isFailure(named)) return Result.fail(named.failure)
  const { mapped, names } = named.success
  // A list of addresses without a header would lose its first one.
  const emailAt = names.findIndex((name) => name?.toLowerCase() === "email")
  if ((emailAt < 0 ? header : header.slice(emailAt, emailAt + 1)).some(isAddress)) {
    return Result.fail(
      "there is an e-mail address where the header is expected; write a line of headings above it, such as Email, or say that there are none"
    )
  }
  const wordsOfField = wordsBy(header, names, values)
  if (Result.isFailure(wordsOfField)) return Result.fail(wordsOfField.failure)
  const kindsByColumn = kindsBy(header, kinds)
  if (Result.isFailure(kindsByColumn)) return Result.fail(kindsByColumn.failure)
  const clears = empty === "clear"
  const readDay = dateFormat === undefined ? undefined : makeDateReader(dateFormat)
  const dateOf = (text: string): string => readDay?.(text) ?? text
  const targetOf = (name: string, words: Words | undefined, kind: Kind | undefined): FilledTarget => {
    const known = importedByName.get(name.toLowerCase())
    if (known === undefined) {
      const of = { group: "customFields", words, kind, isCleared: clears, toWire: verbatim, decode: verbatim }
      return { _tag: "Custom", name, ...of }
    }
    return {
      _tag: "Record",
      name: known.name,
      group: known.group && nameInCode(known.group),
      words,
      kind,
      isCleared: clears && isRemovable(known),
      toWire: wireReader(known, dateOf),
      decode: decoderOf(known),
      field: known
    }
  }
  const seen = new Set<string>()
  let lists: number | undefined
  const targets: Array<Target> = []
  for (const [index, name] of names.entries()) {
    if (name === null || name === "" || (isRecordColumn(name) && !isImported(name))) {
      targets.push({ _tag: name === "" ? "Unnamed" : "LeftOut" })
      continue
    }
    const key = foldName(name)
    // Of several statuses in a row the strictest counts.
    if (seen.has(key) && key !== "status") {
      const isMapped = Object.keys(map).length > 0
      return Result.fail(
        `the header has the column "${name}" twice${isMapped ? ", or another column is mapped to it" : ""}; ` +
          `the mapping of #${index + 1} can leave one out`
      )
    }
    seen.add(key)
    if (isListsColumn(name)) {
      if (kindsByColumn.success.has(index) || wordsOfField.success(index, key) !== undefined) {
        return Result.fail(`the column "${names[index]}" has names of lists, for which there are no words and kinds`)
      }
      lists = index
      targets.push({ _tag: "Lists" })
      continue
    }
    const kind = kindsByColumn.success.get(index)
    const target = targetOf(name, wordsOfField.success(index, key), kind)
    if (kind !== undefined && target._tag === "Record" && !(target.field.kind === "date" && isDateKind(kind.name))) {
      return Result.fail(
        `the column "${name}" is ${target.field.kind === "date" ? "a date" : "no custom field"}, so it is not of the kind ${kind.name}`
      )
    }
    targets.push(target)
  }
  if (!seen.has("email")) {
    return Result.fail(`the header has no column "Email"; ${wordsOf(header)}`)
  }
  const given: Array<ImportColumns["constants"][number]> = []
  for (const [field, value] of Object.entries(constants)) {
    const target = targetOf(field.trim(), undefined, undefined)
    const key = foldName(field.trim())
    if (seen.has(key) && key !== "status") {
      return Result.fail(
        `a column becomes "${field}", so that it cannot have one value in all rows; leave the column out`
      )
    }
    seen.add(key)
    const text = target.toWire(value.trim())
    try {
      target.decode(text)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return Result.fail(`${JSON.stringify(value)} is no ${field}`)
    }
    given.push({ target, text })
  }
  const unnamed = targets.flatMap(({ _tag }, index) => (_tag === "Unnamed" ? [index] : []))
  // Where all rows say that the person gets no mail, nothing else can say more.
  const isSaid = given.some(({ target, text }) => target.name === "status" && strictnessOf(text) > 0)
  const consent = isSaid ? [] : consentColumns(names, targets, mapped)
  return Result.succeed({ targets, lists, unnamed, trims: trim, constants: given, consent })
}

/** The kinds of columns by their places, or which of them the header has not. */
const kindsBy = (
  header: ReadonlyArray<string>,
  kinds: Readonly<Record<string, string>>
): Result.Result<ReadonlyMap<number, Kind>, string> => {
  const names = namesIn(header)
  const byPlace = new Map<number, Kind>()
  for (const [column, name] of Object.entries(kinds)) {
    const at = placeOf(names, column)
    if (at === undefined) return Result.fail(noColumn(header, column))
    byPlace.set(at, { name, read: makeKindReader(name) })
  }
  return Result.succeed(byPlace)
}

/** Whether a header has all columns of an export, which has the status of each contact. */
export const isExportHeader = (names: ReadonlyArray<string | null>): boolean => {
  const known = new Set(names)
  return allFields.every(({ wire }) => known.has(wire))
}

/** The columns that nobody spoke of though their headings may say who wants mail. */
const consentColumns = (
  names: ReadonlyArray<string | null>,
  targets: ReadonlyArray<Target>,
  mapped: ReadonlySet<number>
): ImportColumns["consent"] => {
  if (isExportHeader(names)) return []
  return targets.slice(0, consideredColumns).flatMap((target, at) => {
    if (target._tag !== "Custom" || mapped.has(at) || target.name.length > longestName) return []
    const says = consentOfHeading(target.name)
    return says === undefined ? [] : [{ at, column: target.name, says }]
  })
}

/** The text of a row in a column that becomes a custom field, and whose heading may say who wants mail. */
export interface ConsentText {
  /** The heading of the column. */
  readonly column: string
  /** What the heading may say. */
  readonly says: ConsentMeaning
  /** What the row has there. */
  readonly text: string
}

/** The texts of a row in the columns that may say who wants mail. */
export const consentTexts = (
  { consent }: ImportColumns,
  cells: ReadonlyArray<string>
): ReadonlyArray<ConsentText> | undefined =>
  consent.length === 0
    ? undefined
    : consent.map(({ at, column, says }) => ({ column, says, text: restoreCell(cells[at] ?? "") }))

/** The columns of a header that are not imported, since only the service sets their fields. */
export const ignoredColumns = (header: ReadonlyArray<string>, map: ColumnMap = {}): ReadonlyArray<string> => {
  const named = namesBy(header, map)
  return Result.isFailure(named)
    ? []
    : named.success.names.flatMap((name) => (name !== null && isRecordColumn(name) && !isImported(name) ? [name] : []))
}

/** What a column of a file becomes. */
export const ColumnField = Schema.Struct({
  /** Its heading in the file. */
  column: Schema.String,
  /** The field of the contact, such as `FirstName` or `CustomFields.city`; null for one that is left out. */
  field: Schema.NullOr(Schema.String)
})
export interface ColumnField extends Schema.Schema.Type<typeof ColumnField> {}

/** Which column becomes which field, of the first 1000. */
export const columnFields = (header: ReadonlyArray<string>, mapping: CellMapping = {}): ReadonlyArray<ColumnField> => {
  const read = importColumns(header, mapping)
  if (Result.isFailure(read)) return []
  const names = namesIn(header)
  return read.success.targets.slice(0, consideredColumns).flatMap((target, at): ReadonlyArray<ColumnField> => {
    const column = names[at] === "" ? `#${at + 1}` : (names[at] ?? "").slice(0, longestName)
    if (target._tag === "Unnamed") return []
    if (target._tag === "LeftOut") return [{ column, field: null }]
    if (target._tag === "Lists") return [{ column, field: listsColumn }]
    return [{ column, field: target._tag === "Custom" ? `CustomFields.${target.name}` : target.field.path }]
  })
}

/** The readers of stored texts for the custom fields whose columns are of a kind. */
export const storedTextsOf = (header: ReadonlyArray<string>, mapping: CellMapping = {}): StoredTextReaders => {
  const read = mapping.kinds === undefined ? undefined : importColumns(header, mapping)
  if (read === undefined || Result.isFailure(read)) return new Map()
  return storedTextReaders(
    read.success.targets.flatMap((target) =>
      target._tag === "Custom" && target.kind !== undefined ? [[target.name, target.kind.name] as const] : []
    )
  )
}

/** The places of the columns of a header that have no name and become nothing. */
export const unnamedColumns = (header: ReadonlyArray<string>, mapping: CellMapping = {}): ReadonlyArray<number> =>
  Result.match(importColumns(header, mapping), { onSuccess: ({ unnamed }) => unnamed, onFailure: () => [] })

/** The letter of a column, as spreadsheets show it: A for the first, AA for the 27th. */
export const columnLetter = (index: number): string =>
  (index < 26 ? "" : columnLetter(Math.floor(index / 26) - 1)) + String.fromCharCode(0x41 + (index % 26))

/** The first text that a row has below a column without a name. */
export const unnamedText = (
  { unnamed }: ImportColumns,
  cells: ReadonlyArray<string>
): { readonly column: number; readonly text: string } | undefined => {
  for (const column of unnamed) {
    const text = (cells[column] ?? "").trim()
    if (text !== "") return { column, text }
  }
  return undefined
}

const enumerated = (values: ReadonlyArray<string>) => {
  const known = new Map(values.map((value) => [foldWord(value), value]))
  return (text: string) => known.get(foldWord(text)) ?? text
}

const verbatim = (text: string): string => text
const trimmed = (text: string): string => text.trim()

/** How the text of a cell becomes that of the wire; `dateOf` reads a date of the file. */
const wireReader = (field: ContactField, dateOf: (text: string) => string): ((text: string) => string) => {
  if (field.kind === "enumeration") return enumerated(field.values)
  if (field.kind === "date") return (text) => dateOf(text).trim()
  return field.wire === "Email" ? trimmed : verbatim
}

/** The schema takes an address with a hidden character at an end, which nobody can have meant. */
const shownAddress = (text: string): string => (isHidden(text) ? refuse() : address(text))

const decoderOf = (field: ContactField): ((text: string) => unknown) => {
  if (field.kind === "enumeration") return oneOf(field.values)
  if (field.kind === "date") return readDate
  return field.wire === "Email" ? shownAddress : verbatim
}

/** Whether an empty text removes a field of the record: the names. A contact has an address and a status, and keeps its consent. */
const isRemovable = (field: ContactField): boolean => field.kind === "text" && isOwn(field) && field.wire !== "Email"

/** What a text stands for, if a word says so. */
const meantBy = (words: Words | undefined, text: string): string | undefined => {
  const word = foldWord(text)
  return words === undefined ? undefined : (words.get(word) ?? (word === "" ? undefined : words.get(anyWord)))
}

/** Stands for a text that is not of the kind of its column. */
const misfit = Symbol("misfit")

/** The text that a cell gives a field; `undefined` for a cell that leaves it as it is. */
const textOf = (
  trims: boolean,
  { isCleared, kind, toWire, words }: FilledTarget,
  cell: string
): string | typeof misfit | undefined => {
  const whole = restoreCell(cell)
  const text = trims || kind !== undefined ? whole.trim() : whole
  const meant = meantBy(words, text)
  const value = meant ?? text
  if (value === "") return isCleared ? toWire(value) : undefined
  const read = kind === undefined || meant !== undefined ? value : kind.read(value)
  return read === undefined ? misfit : toWire(read)
}

type Values = Record<string, unknown>

/** Sets a value by its name. An assignment would not keep `__proto__`. */
const setValue = (values: Values, name: string, value: unknown): void => {
  if (name === "__proto__") Object.defineProperty(values, name, { value, enumerable: true, configurable: true })
  else values[name] = value
}

/** Of two statuses of a row the stricter one, and of two that replace each other one that gets no mail. */
const strictest = (one: unknown, other: unknown): unknown =>
  typeof one !== "string" || typeof other !== "string"
    ? other
    : isMailedStatus(other) && !isMailedStatus(one)
      ? one
      : stricterStatus(one, other)

/** Gives a field a value. */
const give = (
  payload: Values,
  groups: Record<string, Values>,
  { decode, group, name }: FilledTarget,
  text: string
): void => {
  if (group !== undefined) setValue((groups[group] ??= payload[group] = {}), name, decode(text))
  else payload[name] = name === "status" ? strictest(payload[name], decode(text)) : decode(text)
}

/** The contact of a row, or throws what `isRefusal` knows. The names of custom fields differ, since those of columns do. */
const payloadOf = ({ constants, targets, trims }: ImportColumns, cells: ReadonlyArray<string>): ContactPayload => {
  const payload: Values = {}
  const groups: Record<string, Values> = {}
  let count = 0
  for (let at = 0; at < targets.length; at++) {
    const target = targets[at]
    if (target === undefined || !isFilled(target)) continue
    const text = textOf(trims, target, cells[at] ?? "")
    if (text === undefined) continue
    if (text === misfit || ++count > maximumNames) return refuse()
    give(payload, groups, target, text)
  }
  for (const { target, text } of constants) {
    if (++count > maximumNames) return refuse()
    give(payload, groups, target, text)
  }
  // Each value is what its field takes.
  return typeof payload["email"] === "string" ? (payload as unknown as ContactPayload) : refuse()
}

/** A value of a row and the place of its column. */
interface Value {
  readonly at: number
  readonly target: FilledTarget
  readonly value: string
}

/** The name of a field on the wire behind that of its group. */
const pathOf = (target: FilledTarget): string =>
  target._tag === "Custom" ? `CustomFields.${target.name}` : target.field.path

/** The first value that cannot be imported, in words for the user who has the file. The schema has refused one. */
const problemIn = (values: ReadonlyArray<Value>): RowProblem | undefined => {
  for (const { at, target, value } of values) {
    if (target._tag === "Custom") continue
    const { field } = target
    if (field.wire === "Email" && emailAddressIssue(value) !== undefined) return { ...addressProblem(value), at }
    if (field.kind === "enumeration" && !field.values.includes(value))
      return { ...wordProblem(field.wire, field.values, value), at }
  }
  return undefined
}

/** A value that the schema refused in its own words, which name its field. */
const fieldProblem = (reason: string, values: ReadonlyArray<Value>): RowProblem => {
  const field = reason.slice(0, Math.max(reason.indexOf(": "), 0))
  const refused = values.find(({ target }) => pathOf(target) === field)
  if (refused === undefined) return rowProblem("Field", reason)
  return { ...rowProblem("Field", reason), at: refused.at, value: cellText(refused.value) }
}

/** A text that is not of the kind of its column. */
const misfitProblem = (target: FilledTarget, text: string, at: number): RowProblem => {
  const name = target._tag === "Custom" ? target.name : target.field.wire
  const cause = `${name}: not of the kind ${target.kind?.name ?? ""}`
  const shown = JSON.stringify(cellText(text))
  return {
    code: "Field",
    reason: `${name}: ${shown} is not of the kind ${target.kind?.name ?? ""}`,
    cause,
    at,
    value: cellText(text)
  }
}

/** What a store would refuse of a contact whose row can be read. */
const storeProblem = ({ targets }: ImportColumns, { cause, field, issue, name }: ContactIssue): RowProblem => {
  const path = wireField(field)
  const at = targets.findIndex(
    (target) => isFilled(target) && (name === undefined ? pathOf(target) === path : target.name === name)
  )
  const where = name === undefined ? path : `${path}.${name.slice(0, longestName)}`
  return {
    code: "Field",
    reason:
      name === undefined || at < 0 || name.length <= maximumCustomFieldName
        ? `${where}: ${issue}`
        : `${where}: ${issue}; map column ${columnLetter(at)} to a shorter one`,
    cause: `${path}: ${cause ?? issue}`,
    ...(at < 0 ? {} : { at })
  }
}

const decodePayload = Schema.decodeUnknownResult(ContactPayload)

/** The place of the column of addresses, which every header has, counted from 0. */
export const addressColumn = ({ targets }: ImportColumns): number =>
  targets.findIndex((target) => target._tag === "Record" && target.field.wire === "Email")

/** Whether there is a text behind so many cells. */
const isLonger = (cells: ReadonlyArray<string>, count: number): boolean =>
  cells.length > count && cells.slice(count).some((cell) => cell.trim() !== "")

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

/** Whether a text is the problem that `importRow` reports for a wrong number of cells, or did in earlier versions. */
export const isCountIssue = (text: string): boolean =>
  /^the row has \d+ cells?, the header (?:has |only )?\d+(?: columns?)?(?:; the line is quoted as a whole)?$/.test(text)

const quotedAsWhole = "; the line is quoted as a whole"

/** Whether the one cell of a row has what separates cells as often as so many columns need it. */
const isWholeLine = ([line = "", ...others]: ReadonlyArray<string>, count: number): boolean =>
  count > 1 &&
  others.every((cell) => cell === "") &&
  [",", ";", "\t", "|"].some((delimiter) => line.slice(0, mostOfLine).split(delimiter).length >= count)

/** How much of a cell shows whether it is a whole line. */
const mostOfLine = 10_000

const noAddress = "the row has no e-mail address"

/** The contact of a row by the schema, which says what is wrong. */
const exactRow = (columns: ImportColumns, cells: ReadonlyArray<string>): Result.Result<ContactPayload, RowProblem> => {
  const values: Array<Value> = columns.constants.map(({ target, text }) => ({ at: -1, target, value: text }))
  for (const [at, target] of columns.targets.entries()) {
    const value = isFilled(target) ? textOf(columns.trims, target, cells[at] ?? "") : undefined
    if (!isFilled(target) || value === undefined) continue
    if (value === misfit) return Result.fail(misfitProblem(target, restoreCell(cells[at] ?? ""), at))
    values.push({ at, target, value })
  }
  const address = values.find(({ target }) => target._tag === "Record" && target.field.wire === "Email")
  if (address === undefined) {
    return Result.fail({
      ...rowProblem("NoAddress", noAddress),
      at: addressColumn(columns),
      value: ""
    })
  }
  if (isHidden(address.value)) return Result.fail({ ...addressProblem(address.value), at: address.at })
  const record = wireRecordOf(values.map(({ target, value }) => [pathOf(target), value]))
  const statuses = values.filter(({ target }) => pathOf(target) === "Status")
  // One that is none makes the row no contact, whatever the others say.
  const wrong = statuses.length > 1 ? problemIn(statuses) : undefined
  if (wrong !== undefined) return Result.fail(wrong)
  const said = statuses.reduce<unknown>((one, { value }) => strictest(one, value), undefined)
  return Result.mapError(
    decodePayload(said === undefined ? record : { ...record, Status: said }),
    (error) => problemIn(values) ?? fieldProblem(schemaProblem(error), values)
  )
}

const noLists = Result.succeed<ReadonlyArray<string>>([])

/** The lists that a row names, or what is wrong with them. */
export const rowLists = (
  { lists }: ImportColumns,
  cells: ReadonlyArray<string>
): Result.Result<ReadonlyArray<string>, string> =>
  lists === undefined ? noLists : readLists(restoreCell(cells[lists] ?? ""))

/** Reads a row as a contact to add, or gives the problem. An empty cell leaves its field unchanged. */
export const importRow = (
  columns: ImportColumns,
  cells: ReadonlyArray<string>
): Result.Result<ContactPayload, RowProblem> => {
  const read = readRow(columns, cells)
  const found = Result.isSuccess(read) ? contactIssue(read.success) : undefined
  return found === undefined ? read : Result.fail(storeProblem(columns, found))
}

const readRow = (columns: ImportColumns, cells: ReadonlyArray<string>): Result.Result<ContactPayload, RowProblem> => {
  const { targets } = columns
  if (cells.length < targets.length || isLonger(cells, targets.length)) {
    return Result.fail(
      rowProblem(
        "Cells",
        `the row has ${counted(cells.length, "cell")}, the header has ${counted(targets.length, "column")}` +
          (isWholeLine(cells, targets.length) ? quotedAsWhole : "")
      )
    )
  }
  const unnamed = unnamedText(columns, cells)
  if (unnamed !== undefined) {
    const { column, text } = unnamed
    const where = `column ${columnLetter(column)} has no name`
    return Result.fail({
      code: "Unnamed",
      reason:
        `${where}, and the text ${JSON.stringify(text.slice(0, longestName))} ` +
        "there would be lost; a mapping gives it a name, or leaves it out",
      cause: where,
      at: column,
      value: cellText(text)
    })
  }
  const lists = rowLists(columns, cells)
  if (Result.isFailure(lists)) {
    const at = columns.lists ?? 0
    return Result.fail({
      ...rowProblem("Field", `${listsColumn}: ${lists.failure}`),
      at,
      value: cellText(cells[at] ?? "")
    })
  }
  try {
    return Result.succeed(payloadOf(columns, cells))
  } catch (error) {
    if (!isRefusal(error)) throw error
    return exactRow(columns, cells)
  }
}

/** The address of a row, whatever its other cells hold, or what is wrong with it. */
export const rowAddress = (columns: ImportColumns, cells: ReadonlyArray<string>): Result.Result<string, RowProblem> => {
  const text = addressText(columns, cells)
  if (text === undefined) return Result.fail(rowProblem("NoAddress", noAddress))
  return emailAddressIssue(text) === undefined && !isHidden(text)
    ? Result.succeed(text)
    : Result.fail(addressProblem(text))
}

/** The text that a row has as its address, whatever it is; `undefined` for an empty cell. */
const addressText = (columns: ImportColumns, cells: ReadonlyArray<string>): string | undefined => {
  const text = restoreCell(cells[addressColumn(columns)] ?? "").trim()
  return text === "" ? undefined : text
}

/** The fault of a row without a contact, with what people look for: the heading of its column, and the address of the row. */
export interface RowFault extends Omit<RowProblem, "at"> {
  /** The heading of the column in the file. */
  readonly column?: string
  /** The text of the row's address, up to 100 characters, whatever it is. */
  readonly email?: string
  /** The valid address that the row probably means, if its own is none; several are listed. */
  readonly suggestion?: string
}

/** What a row has below each heading, to say where a fault is. Rows that cannot be split have no columns. */
export const faultOf = (
  { at, ...problem }: RowProblem,
  split?: {
    readonly columns: ImportColumns
    readonly header: ReadonlyArray<string>
    readonly cells: ReadonlyArray<string>
  }
): RowFault => {
  if (split === undefined) return problem
  const { cells, columns, header } = split
  const email = addressText(columns, cells)
  const suggestion = email === undefined ? [] : likelyAddresses(email)
  const column = at === undefined ? "" : restoreCell(header[at] ?? "").trim()
  return {
    ...problem,
    ...(column === "" ? {} : { column: cellText(column) }),
    ...(email === undefined ? {} : { email: cellText(email) }),
    ...(suggestion.length === 0 ? {} : { suggestion: suggestion.join(", ") })
  }
}

/** The columns that are not fields though their names mean them: "E-mail Address", "First Name", "last_name", "Vorname". */
export const likelyFields = (header: ReadonlyArray<string>, map: ColumnMap = {}): Readonly<Record<string, string>> => {
  const names = header
    .slice(0, consideredColumns)
    .map((cell) => (cell.length > longestName ? "" : restoreCell(cell).trim()))
  const mapped = new Set(Object.keys(map).map((column) => placeOf(names, column)))
  // A mapping that names a column wrongly is not mended by more of it.
  if (mapped.has(undefined)) return {}
  const taken = new Set([...names, ...Object.values(map)].map((name) => name?.toLowerCase()))
  const fields = fieldsOfHeadings(names)
  return Object.fromEntries(
    names.flatMap((name, index) => {
      const field = fields[index]
      if (field === undefined || taken.has(field.toLowerCase()) || mapped.has(index)) return []
      // Of two columns for one field the first is meant.
      taken.add(field.toLowerCase())
      return [[name, field]]
    })
  )
}
