/** Which contacts a run is of, in words that stay with it when a person is erased, and so name none. (docs/decisions/runs.md) */
import { parseRule, RawRule, Rule } from "@roster/domain"
import { Result } from "effect"
import { counted } from "../runs/Stopped.ts"

const personal: ReadonlySet<string> = new Set(["email", "firstname", "lastname"])

/** A rule with "…" for each text that it compares with an address or a name. */
const withoutPersons = (rule: string): string =>
  Result.match(parseRule(rule), {
    onFailure: () => "a rule",
    onSuccess: (parsed) =>
      Rule.leavesOf(parsed).reduce<string>(
        (text, leaf) =>
          leaf._tag === "Compare" && personal.has(leaf.field.name.toLowerCase())
            ? text.replaceAll(Rule.print(leaf), Rule.print({ ...leaf, value: Rule.text("…") }))
            : text,
        Rule.print(parsed)
      )
  })

/** A selection in words that name nobody: its rule, without addresses and names, or how many contacts there are. */
export const selectionWords = (of: string | RawRule | number): string => {
  if (typeof of === "number") return counted(of, "contact")
  return of instanceof RawRule ? "a rule" : withoutPersons(of)
}
