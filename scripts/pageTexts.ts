/**
 * A rule of the linter: the texts of the page stand in `packages/studio/src/texts`, where another language can replace them, and numbers and
 * times become text there. Elsewhere there is no word in an element or in an attribute that people read or hear, none that is called a title or
 * the like, and no text of several words. Another single word may be a name of the program, so the rule lets it pass.
 */

interface SyntaxNode {
  readonly type: string
  readonly parent: SyntaxNode | null
  readonly [part: string]: unknown
}

interface RuleContext {
  readonly report: (problem: { readonly node: unknown; readonly message: string }) => void
}

/** Attributes that nobody reads: names of the program, of styles, files and states. Any other one is read. */
const unread: ReadonlySet<string> = new Set(
  (
    "accept aria-autocomplete aria-controls aria-current aria-describedby aria-disabled aria-hidden aria-labelledby aria-live at " +
    "autoCapitalize autoComplete by className d fillRule href htmlFor icon id inputMode key kind level list name of preserveAspectRatio " +
    "rel role scope to tone type value viewBox"
  ).split(" ")
)

/** Parts of an object that people read. */
const readParts: ReadonlySet<string> = new Set(["heading", "label", "message", "reason", "title", "words"])

/** Whether a part of an object is its own name with a capital, as in `{ file: "File" }`. */
const isNamed = ({ key, value }: SyntaxNode): boolean => {
  const text = String(asNode(value)?.["value"])
  return /^\p{Lu}\p{Ll}/u.test(text) && text.toLowerCase() === nameOf(key).toLowerCase()
}

/** Functions that take a selector of styles. */
const selecting: ReadonlySet<string> = new Set([
  "closest",
  "matchMedia",
  "matches",
  "querySelector",
  "querySelectorAll"
])

/** Stands for a value within a text. */
const slot = "\uFFFC"

/** Whether a text is several words, of which values may be some. One with the signs of rules is a rule. */
export const isWords = (text: string): boolean =>
  !/[=<>]|\b(?:AND|OR)\b/.test(text) && /\p{L}[,;:.!?…]?\s+[\p{L}\uFFFC]|\uFFFC[,;:.!?…]?\s+\p{L}|\p{L}…/u.test(text)

const asNode = (value: unknown): SyntaxNode | undefined =>
  // A part of a node that has a type is a node.
  typeof value === "object" && value !== null && "type" in value ? (value as SyntaxNode) : undefined

const nameOf = (value: unknown): string => String(asNode(value)?.["name"] ?? "")

const isUnread = (attribute: SyntaxNode): boolean => unread.has(nameOf(attribute["name"]))

/** Where a text stands: in an element or attribute that people read, where nobody reads it, or elsewhere in the program. */
const placeOf = (text: SyntaxNode): "read" | "unread" | "program" => {
  let isValue = true
  for (let node = text, { parent } = text; parent !== null; node = parent, { parent } = node) {
    switch (parent.type) {
      case "JSXAttribute":
        return isUnread(parent) ? "unread" : isValue ? "read" : "program"
      case "JSXElement":
      case "JSXFragment":
        return isValue ? "read" : "program"
      case "ImportDeclaration":
      case "ImportExpression":
      case "TSLiteralType":
        return "unread"
      case "CallExpression": {
        const callee = asNode(parent["callee"])
        if (selecting.has(nameOf(callee?.["property"] ?? callee))) return "unread"
        isValue = false
        break
      }
      case "Property":
        // A key, or the name of a command.
        if (parent["key"] === node || nameOf(parent["key"]) === "program") return "unread"
        if (isValue && (readParts.has(nameOf(parent["key"])) || isNamed(parent))) return "read"
        isValue = false
        break
      case "BinaryExpression":
        isValue &&= parent["operator"] === "+"
        break
      case "ConditionalExpression":
        isValue &&= parent["test"] !== node
        break
      case "ArrayExpression":
      case "JSXExpressionContainer":
      case "LogicalExpression":
      case "TemplateLiteral":
      case "TSAsExpression":
        break
      default:
        isValue = false
    }
  }
  return "program"
}

const letter = /\p{L}/u

const message = "A text of the page stands in packages/studio/src/texts, where another language can replace it."

const ofLocale = "Numbers and times become text by packages/studio/src/texts/Language.ts."

const create = (context: RuleContext) => {
  const check = (node: SyntaxNode, text: string): void => {
    if (!letter.test(text)) return
    const place = placeOf(node)
    if (place === "read" || (place === "program" && isWords(text))) context.report({ node, message })
  }
  return {
    JSXText: (node: SyntaxNode) => {
      if (letter.test(String(node["value"]))) context.report({ node, message })
    },
    Literal: (node: SyntaxNode) => {
      if (typeof node["value"] === "string") check(node, node["value"])
    },
    TemplateLiteral: (node: SyntaxNode) => {
      const parts: ReadonlyArray<{ readonly value: { readonly cooked?: string | null } }> = Array.isArray(
        node["quasis"]
      )
        ? node["quasis"]
        : []
      check(node, parts.map(({ value }) => value.cooked ?? "").join(slot))
    },
    MemberExpression: (node: SyntaxNode) => {
      if (/^toLocale\w*String$/.test(nameOf(node["property"])) || nameOf(node["object"]) === "Intl")
        context.report({ node, message: ofLocale })
    }
  }
}

export default { meta: { name: "page" }, rules: { texts: { create } } }
