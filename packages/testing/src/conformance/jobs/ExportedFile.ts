/**
 * Strict readers of exported files, independent of the code that wrote them: RFC 4180, the part of XML 1.0 that
 * elements and texts need, and the archive format of PKWARE's application note.
 */
import { assert } from "../cases/Assert.ts"
import { Predicate } from "effect"
import { DatabaseSync } from "node:sqlite"
import { crc32, inflateRawSync } from "node:zlib"

/** The text of a file, which must be UTF-8 without a byte order mark. */
export const textOf = (bytes: Uint8Array): string => {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  assert.isFalse(text.startsWith("\ufeff"), "the file begins with a byte order mark")
  return text
}

/** The records of a CSV file: every line ends with CRLF, and every record has as many cells as the first. */
export const csvOf = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  const records: Array<ReadonlyArray<string>> = []
  let record: Array<string> = []
  let at = 0
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    at = cell.lastIndex
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "")
    if (match[3] === ",") continue
    records.push(record)
    record = []
  }
  assert.strictEqual(at, text.length, `the file is not RFC 4180 at ${JSON.stringify(text.slice(at, at + 60))}`)
  assert.strictEqual(new Set(records.map((cells) => cells.length)).size, 1, "records differ in length")
  return records
}

/** A text that was protected for spreadsheets by an apostrophe before it and before each formula within it. */
const unprotected = (cell: string): string => {
  const [first = "", ...rest] = cell.split(/(?<=[,;|\t\r\n])/)
  const isProtected = (part: string) => /^'+[=+\-@＝＋－＠]/.test(part)
  const isAll = isProtected(first) || (first.startsWith("'") && rest.some(isProtected))
  return isAll
    ? [first, ...rest].map((part, i) => (i === 0 || isProtected(part) ? part.slice(1) : part)).join("")
    : cell
}

/** The records of a CSV file below its header, by the names in it. Empty cells are left out. */
export const csvRecordsOf = (text: string): ReadonlyArray<ReadonlyMap<string, string>> => {
  const [header = [], ...rows] = csvOf(text)
  return rows.map(
    (cells) =>
      new Map(header.flatMap((name, i) => ((cells[i] ?? "") === "" ? [] : [[name, unprotected(cells[i] ?? "")]])))
  )
}

const jsonItems = new DatabaseSync(":memory:").prepare("SELECT key, value, type FROM json_each(?)")

/** A value parsed by SQLite: `JSON.parse` of some versions of Node mixes up names. */
const jsonValueOf = (value: unknown, type: unknown): unknown => {
  if (type === "true" || type === "false") return type === "true"
  if (type !== "object" && type !== "array") return value
  const items = jsonItems
    .all(String(value))
    .map(({ key, type, value }) => [String(key), jsonValueOf(value, type)] as const)
  return type === "array" ? items.map(([, item]) => item) : Object.fromEntries(items)
}

/** The records of a JSON file. */
export const jsonRecordsOf = (text: string): ReadonlyArray<{ readonly [field: string]: unknown }> => {
  const file = jsonValueOf(text, text.startsWith("[") ? "array" : "object")
  assert.isArray(file)
  return Array.isArray(file) ? file.filter(Predicate.isObject) : []
}

/** An element of an XML document, with its texts and children. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<XmlElement>
  readonly text: string
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replaceAll(/\r\n?/g, "\n").replaceAll(/&(?:#x([0-9A-Fa-f]+)|#(\d+)|(\w+));/g, (_, hex, decimal, name) => {
    const code = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : undefined
    return code === undefined ? (entities[name] ?? assert.fail(`unknown entity ${name}`)) : String.fromCodePoint(code)
  })

/** The root of an XML document that has elements, attributes and texts and nothing else. */
export const xmlOf = (text: string): XmlElement => {
  const [declaration] =
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/i.exec(text) ?? assert.fail("there is no declaration")
  const token = /<(\/?)([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
  token.lastIndex = declaration.length
  interface Open {
    name: string
    attributes: Record<string, string>
    children: Array<Open>
    text: string
  }
  const root: Open = { name: "", attributes: {}, children: [], text: "" }
  const stack = [root]
  let at = token.lastIndex
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    at = token.lastIndex
    const [, end, name = "", attributes = "", empty, words] = match
    const top = stack.at(-1) ?? assert.fail("more elements end than begin")
    if (words !== undefined) {
      assert.notInclude(words, "]]>")
      top.text += unescaped(words)
    } else if (end === "/") {
      assert.strictEqual(stack.pop()?.name, name)
    } else {
      const pairs = [...attributes.matchAll(/(?<![\w:.-])([\w:.-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key,
        unescaped(value)
      ])
      const element: Open = { name, attributes: Object.fromEntries(pairs), children: [], text: "" }
      top.children.push(element)
      if (empty !== "/") stack.push(element)
    }
  }
  assert.strictEqual(at, text.length, `the file is not XML at ${JSON.stringify(text.slice(at, at + 60))}`)
  assert.deepStrictEqual([stack.length, root.children.length, root.text.trim()], [1, 1, ""])
  return root.children[0] ?? root
}

/** The files in an archive, read by its central directory, with their checksums checked. */
export const zipOf = (bytes: Uint8Array): ReadonlyMap<string, Uint8Array> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length - 22
  assert.strictEqual(view.getUint32(end, true), 0x06054b50, "there is no end of a central directory")
  const files = new Map<string, Uint8Array>()
  let at = view.getUint32(end + 16, true)
  for (let entry = 0; entry < view.getUint16(end + 10, true); entry++) {
    assert.strictEqual(view.getUint32(at, true), 0x02014b50, "there is no entry of the central directory")
    const [method, checksum, packed, size] = [
      view.getUint16(at + 10, true),
      view.getUint32(at + 16, true),
      view.getUint32(at + 20, true),
      view.getUint32(at + 24, true)
    ]
    const [nameSize, extraSize, commentSize, local] = [
      view.getUint16(at + 28, true),
      view.getUint16(at + 30, true),
      view.getUint16(at + 32, true),
      view.getUint32(at + 42, true)
    ]
    const name = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(at + 46, at + 46 + nameSize))
    assert.strictEqual(view.getUint32(local, true), 0x04034b50, "there is no local header")
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    const data = bytes.subarray(start, start + packed)
    const content = method === 8 ? inflateRawSync(data) : method === 0 ? data : assert.fail(`compression ${method}`)
    assert.deepStrictEqual([content.length, crc32(content)], [size, checksum])
    files.set(name, content)
    at += 46 + nameSize + extraSize + commentSize
  }
  return files
}
