/**
 * A rule of the linter: no regular expression takes time that grows faster than the text it is given, since texts come from
 * strangers. One that ends with `\s+$` tries again from every blank; `(?<!\s)\s+$` begins only where the blanks do.
 */
import { analyse } from "scslre"

/** The first cause for which an expression is not linear, or `undefined`. Throws for one that is not valid. */
export const superLinear = (source: string, flags: string): string | undefined => {
  const [report] = analyse({ source, flags }, { assumeRejectingSuffix: false }).reports
  if (report === undefined) return undefined
  const growth = report.exponential ? "exponential" : "quadratic"
  return `This regular expression takes ${growth} time in a run of ${JSON.stringify(report.character.pick)}: let a match begin only where the run begins, as in /(?<!\\s)\\s+$/, or drop the $.`
}

interface LiteralNode {
  readonly value?: unknown
  readonly regex?: { readonly pattern: string; readonly flags: string } | null
}

interface ConstructorNode {
  readonly callee: { readonly type: string; readonly name?: string }
  readonly arguments: ReadonlyArray<LiteralNode | undefined>
}

interface RuleContext {
  readonly report: (problem: { readonly node: unknown; readonly message: string }) => void
}

const create = (context: RuleContext) => {
  const check = (node: unknown, source: string, flags: string): void => {
    const message = superLinear(source, flags)
    if (message !== undefined) context.report({ node, message })
  }
  return {
    Literal: (node: LiteralNode) => {
      if (node.regex != null) check(node, node.regex.pattern, node.regex.flags)
    },
    NewExpression: (node: ConstructorNode) => {
      const [source, flags] = node.arguments
      if (node.callee.name === "RegExp" && typeof source?.value === "string") {
        check(node, source.value, typeof flags?.value === "string" ? flags.value : "")
      }
    }
  }
}

export default { meta: { name: "roster" }, rules: { "linear-expressions": { create } } }
