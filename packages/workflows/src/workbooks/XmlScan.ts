/** Scans XML of programs that write workbooks: tags, their attributes, texts. No entities but those of XML, no validation. */

/** What is told of a text, in its order. Names have no prefix. */
export interface XmlHandlers {
  /** A tag opens. An empty one closes at once. */
  readonly open: (name: string, attributes: () => ReadonlyMap<string, string>) => void
  readonly close: (name: string) => void
  /** Text between tags; one text may come in pieces. */
  readonly text: (text: string) => void
}

const tag = /<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:[^<>"']|"[^"]*"|'[^']*')*?)(\/?)>/y
const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const named: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

const decoded = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(
        /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi,
        (entity, hex?: string, digits?: string, name = "") => {
          const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16)
          return named[name] ?? (code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity)
        }
      )
    : text

const attributesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(text.matchAll(attribute), ([, name = "", one = "", other = ""]) => [
      name.slice(name.indexOf(":") + 1),
      decoded(one + other)
    ])
  )

/** Scans a text. Gives what is wrong with it, or `undefined`. */
export const scanXml = (xml: string, on: XmlHandlers): string | undefined => {
  for (let at = 0; ;) {
    const next = xml.indexOf("<", at)
    if (next === -1) return undefined
    if (next > at) on.text(decoded(xml.slice(at, next)))
    const skipped = [
      ["<![CDATA[", "]]>"],
      ["<!--", "-->"],
      ["<?", "?>"],
      ["<!", ">"]
    ].find(([begin = ""]) => xml.startsWith(begin, next))
    if (skipped !== undefined) {
      const [begin = "", end = ""] = skipped
      const until = xml.indexOf(end, next + begin.length)
      if (until === -1) return "its XML breaks off"
      if (begin === "<![CDATA[") on.text(xml.slice(next + begin.length, until))
      at = until + end.length
      continue
    }
    tag.lastIndex = next
    const found = tag.exec(xml)
    if (found === null) return "its XML breaks off or is none"
    const [whole, closing, name = "", attributes = "", empty] = found
    if (closing === "") on.open(name, () => attributesOf(attributes))
    if (closing !== "" || empty !== "") on.close(name)
    at = next + whole.length
  }
}
