/** New custom fields and lists: each is named, and one whose name is nearly that of another is asked about. (docs/decisions/records.md) */
import { newFields, newFieldWords } from "@roster/workflows"
import { Effect } from "effect"
import { toggle } from "../../settings/FlagForms.ts"
import { Output } from "../../terminal/Output.ts"
import { printable, shorten } from "../../terminal/Printable.ts"
import { confirmFact } from "./Confirm.ts"

export const newField = toggle(
  "new-field",
  "Make a new custom field or list although its name is nearly that of another one (default: ask)"
)

/** What a command would make, and the name that may be meant. */
interface New {
  readonly name: string
  readonly near: string | undefined
}

/** Names what is made, and asks about what looks like a slip. */
export const sayNew = Effect.fnUntraced(function* (
  what: "custom field" | "list",
  made: ReadonlyArray<New>,
  { newField, words }: { readonly newField: boolean; readonly words: (one: New) => string }
) {
  const slips = newField ? [] : made.filter(({ near }) => near !== undefined)
  if (slips.length > 0) {
    const fact = slips.map(words).join(", ")
    yield* confirmFact(
      `${fact.charAt(0).toUpperCase()}${fact.slice(1)}`,
      slips.length === 1 ? `Make it a new ${what}` : `Make them new ${what}s`,
      "Correct the name. If it is meant so, add --new-field."
    )
  }
  const others = made.filter((one) => !slips.includes(one)).map(({ name }) => shorten(name))
  if (others.length === 0) return
  yield* (yield* Output).note(printable(`New ${what}${others.length === 1 ? "" : "s"}: ${others.join(", ")}`))
})

/** Says which of some custom fields no contact has, and asks whether those are meant that look like slips. */
export const checkNewFields = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  { newField }: { readonly newField: boolean }
) {
  yield* sayNew("custom field", yield* newFields(names), { newField, words: newFieldWords })
})
