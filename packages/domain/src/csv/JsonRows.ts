/**
 * Contacts of JSON (an array, or objects one after the other as NDJSON has them) as rows. An object is what a row of CSV
 * is, its names are the headings, so that the same mapping and the same checks apply. (docs/decisions/csv.md)
 */
import { type RowProblem, rowProblem } from "./CellProblems.ts"
import { Predicate, Result, Schema } from "effect"
import type { ContactPayload } from "../contacts/Contact.ts"
import { joinBytes } from "../values/Bytes.ts"
import { parse } from "../values/JsonParser.ts"
import { checkJson, maximumDepth } from "../values/StrictJson.ts"
import {
  consentTexts,
  importColumns,
  type ImportColumns,
  faultOf,
  importRow,
  presentColumns,
  protectCell,
  rowLists,
  type RowFault,
  unnamedText
} from "./ContactColumns.ts"
import { writeLists } from "../lists/ListsText.ts"
import { errorColumn, isListsColumn } from "./ColumnNames.ts"
import { proposedColumns } from "./HeaderProposals.ts"
import { contactsElsewhere, listElsewhere } from "../headings/JsonPlace.ts"
import type { ImportRow } from "./ImportRow.ts"
import type { ImportMapping } from "./ImportMapping.ts"
import type { FileHeader } from "./FileHeader.ts"
import { UnreadableFile } from "./TextDecoding.ts"

/** The maximum length of an object, in bytes, as of a row of CSV. */
const maximumObject = 8 * 1024 * 1024

/** The maximum number of names and values in an object, with those of the objects in it. */
const maximumValues = 10_000

const [quote, backslash, lineFeed, comma] = [0x22, 0x5c, 0x0a, 0x2c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === lineFeed || byte === 0x0d

/** An object as it stands in the file. */
interface JsonText {
  readonly line: number
  readonly text: string
}

/** Where in a file of JSON a reader is. */
type Place = "Start" | "BeforeFirst" | "BeforeObject" | "AfterObject" | "InObject" | "End"

/** How much of an object that is too long shows what it is. */
const shownBeginning = 64 * 1024

/** Why something else stands where an object should, and how objects or addresses are made of it. */
const notObject = (byte: number, isInArray: boolean): string => {
  const issue = 'a contact is an object such as {"Email":"ann@example.com"}'
  if (isInArray && byte === openArray)
    return `${issue}, and here it is a list; jq -r '.[] | @csv' makes a CSV of the file`
  return isInArray && byte === quote
    ? `${issue}, and here it is a text; jq -r '.[]' makes a list of addresses of the file`
    : issue
}

/** Makes a function that takes the pieces of a file and gives their complete objects, or what is wrong and where. */
const makeObjectReader = (firstLine: number) => {
  const utf8 = new TextDecoder()
  let place: Place = "Start"
  let isArray = false
  let line = firstLine
  let lastLine = firstLine - 1
  /** The bytes of an object that began in an earlier piece. */
  let held: Array<Uint8Array> = []
  let heldLength = 0
  let depth = 0
  let isInText = false
  let isEscaped = false

  return (
    bytes: Uint8Array,
    last: boolean
  ): { objects: ReadonlyArray<JsonText>; line: number; isArray: boolean; issue?: string } => {
    const objects: Array<JsonText> = []
    const stop = (issue: string) => ({ objects, line, isArray, issue })
    let start = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === lineFeed) line++
      if (place === "InObject") {
        if (heldLength + at - start > maximumObject) {
          const beginning = utf8.decode(joinBytes([...held, bytes.subarray(start, at)]).subarray(0, shownBeginning))
          return stop(listElsewhere(beginning) ?? `an object is longer than ${maximumObject} bytes`)
        }
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = isInText
        else if (byte === quote) isInText = !isInText
        else if (isInText) continue
        else if (byte === openObject || byte === openArray) depth++
        else if (byte === closeObject || byte === closeArray) depth--
        if (depth > maximumDepth) return stop(`an object is deeper than ${maximumDepth} levels`)
        if (depth > 0) continue
        objects.push({ line: lastLine, text: utf8.decode(joinBytes([...held, bytes.subarray(start, at + 1)])) })
        held = []
        heldLength = 0
        place = "AfterObject"
      } else if (isBlank(byte)) continue
      else if (place === "Start" && byte === openArray) {
        isArray = true
        place = "BeforeFirst"
      } else if (place === "End") return stop("something stands behind the end of the array")
      else if (isArray && byte === closeArray && place !== "BeforeObject") place = "End"
      else if (isArray && place === "AfterObject") {
        if (byte !== comma) return stop("a comma is missing between two objects")
        place = "BeforeObject"
      } else if (byte !== openObject) return stop(notObject(byte, isArray))
      else {
        // Rows are told apart by their lines, so objects on the same line count on.
        lastLine = Math.max(line, lastLine + 1)
        start = at
        depth = 1
        place = "InObject"
      }
    }
    if (place === "InObject") {
      held.push(bytes.subarray(start))
      heldLength += bytes.length - start
    }
    return last && (place === "InObject" || (isArray && place !== "End"))
      ? stop("the file breaks off")
      : { objects, line, isArray }
  }
}

/** Records within a contact, whose names are columns of their own. */
const groups = new Set(["customfields", "consent", "activity"])

/** The text of a value as a cell has it, or `undefined` for one that no field takes. */
const cellOf = (value: unknown): string | undefined => {
  if (value === null) return ""
  if (typeof value === "string") return protectCell(value)
  if (typeof value === "boolean") return String(value)
  // More digits would not be those of the file.
  if (typeof value === "number")
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value)
  return typeof value === "object" && Object.keys(value).length === 0 ? "" : undefined
}

const isTexts = Schema.is(Schema.Array(Schema.String))

interface Cells {
  readonly names: ReadonlyArray<string>
  readonly cells: ReadonlyArray<string>
}

const issueOf = (text: string): string | undefined => {
  const steps = checkJson(text, maximumValues)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value.issue
  }
}

const parsed = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/** The names and values of an object as the headings and cells of a file. */
const cellsOf = (text: string): Result.Result<Cells, string> => {
  const issue = issueOf(text)
  if (issue !== undefined) return Result.fail(issue)
  const record = parsed(text)
  if (!Predicate.isObject(record)) return Result.fail("the object is no valid JSON")
  const names: Array<string> = []
  const cells: Array<string> = []
  const entries = Object.entries(record).flatMap(([name, value]) =>
    groups.has(name.toLowerCase()) && Predicate.isObject(value) ? Object.entries(value) : [[name, value] as const]
  )
  for (const [name, value] of entries) {
    if (name.toLowerCase() === errorColumn) continue
    const cell = isListsColumn(name) && isTexts(value) ? protectCell(writeLists(value)) : cellOf(value)
    if (cell === undefined) {
      return Result.fail(
        `${JSON.stringify(name.slice(0, 40))} is a list, an object or a number of too many digits, not a text`
      )
    }
    names.push(protectCell(name))
    cells.push(cell)
  }
  return Result.succeed({ names, cells })
}

/** How many sets of names are remembered. Files of one program have few. */
const rememberedNames = 1000

const makeColumnsOf = (mapping: ImportMapping) => {
  const known = new Map<string, Result.Result<ImportColumns, string>>()
  return (names: ReadonlyArray<string>): Result.Result<ImportColumns, string> => {
    const key = JSON.stringify(names)
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size === rememberedNames) known.clear()
    // An object lacks the names whose values it lacks.
    const made = Result.mapError(importColumns(names, presentColumns(names, mapping)), (problem) =>
      problem.replace("the header", "the object")
    )
    known.set(key, made)
    return made
  }
}

/** A contact of JSON, read on demand. */
class JsonRow implements ImportRow {
  readonly line: number
  readonly header: FileHeader
  readonly #text: string
  readonly #columnsOf: ReturnType<typeof makeColumnsOf>
  #contact: Result.Result<ContactPayload, RowProblem> | undefined
  #known: Result.Result<Cells & { readonly columns: ImportColumns }, string> | undefined

  constructor({ line, text }: JsonText, header: FileHeader, columnsOf: ReturnType<typeof makeColumnsOf>) {
    this.line = line
    this.header = header
    this.#text = text
    this.#columnsOf = columnsOf
  }

  get cells(): ReadonlyArray<string> {
    return [this.#text]
  }

  get #imported(): Result.Result<ContactPayload, RowProblem> {
    return (this.#contact ??= Result.flatMap(
      Result.mapError(this.#read(), (reason) => rowProblem("Format", reason)),
      ({ cells, columns }) => importRow(columns, cells)
    ))
  }

  get contact(): Result.Result<ContactPayload, string> {
    return Result.mapError(this.#imported, ({ reason }) => reason)
  }

  get record(): ImportRow["record"] {
    return Result.getOrUndefined(cellsOf(this.#text))
  }

  get lists(): ImportRow["lists"] {
    const read = this.#read()
    return Result.isFailure(read) || read.success.columns.lists === undefined
      ? undefined
      : Result.getOrUndefined(rowLists(read.success.columns, read.success.cells))
  }

  get unnamed(): ImportRow["unnamed"] {
    const read = this.#read()
    return Result.isSuccess(read) ? unnamedText(read.success.columns, read.success.cells) : undefined
  }

  get consent(): ImportRow["consent"] {
    const read = this.#read()
    return Result.isSuccess(read) ? consentTexts(read.success.columns, read.success.cells) : undefined
  }

  get fault(): RowFault | undefined {
    if (Result.isSuccess(this.#imported)) return undefined
    const read = this.#read()
    if (Result.isFailure(read)) return faultOf(this.#imported.failure)
    const { cells, columns, names } = read.success
    return faultOf(this.#imported.failure, { cells, columns, header: names })
  }

  #read() {
    // Parsed once, whatever is asked of the row.
    return (this.#known ??= this.#parsed())
  }

  #parsed() {
    return Result.flatMap(cellsOf(this.#text), ({ cells, names }) =>
      Result.map(this.#columnsOf(names), (columns) => ({ cells, columns, names }))
    )
  }
}

/** Whether a mapping says which name is that of the address. */
const namesAddress = ({ columns = {} }: ImportMapping): boolean =>
  Object.values(columns).some((field) => field?.trim().toLowerCase() === "email")

/**
 * Makes a function that takes the pieces of a file of JSON and gives their rows. The last call has `last`. Without `needsAddress`
 * the names of the first object may be any.
 */
export const makeJsonReader = (mapping: ImportMapping, firstLine: number, needsAddress = true) => {
  const read = makeObjectReader(firstLine)
  const columnsOf = makeColumnsOf(mapping)
  let header: FileHeader | undefined
  return (piece: Uint8Array, last: boolean): Result.Result<ReadonlyArray<ImportRow>, UnreadableFile> => {
    const { isArray, issue, line, objects } = read(piece, last)
    const [first] = objects
    if (header === undefined && first !== undefined) {
      const names = Result.map(cellsOf(first.text), ({ names }) => names)
      const cells = Result.getOrElse(names, () => [])
      header = { cells, delimiter: ",", format: "Ndjson" }
      const elsewhere = namesAddress(mapping) ? undefined : contactsElsewhere(parsed(first.text), isArray)
      if (elsewhere !== undefined) return Result.fail(new UnreadableFile({ line: first.line, reason: elsewhere }))
      // An object that cannot be read says nothing of the others.
      const columns = Result.flatMap(names, columnsOf)
      if (needsAddress && Result.isSuccess(names) && Result.isFailure(columns)) {
        const values = Result.match(cellsOf(first.text), { onSuccess: ({ cells }) => [cells], onFailure: () => [] })
        const likely = proposedColumns(cells, presentColumns(cells, mapping), values)
        const error = { line: first.line, reason: columns.failure }
        return Result.fail(new UnreadableFile(likely === undefined ? error : { ...error, likelyFields: likely }))
      }
    }
    if (issue !== undefined) return Result.fail(new UnreadableFile({ line, reason: issue }))
    const shared = header
    return Result.succeed(shared === undefined ? [] : objects.map((object) => new JsonRow(object, shared, columnsOf)))
  }
}
