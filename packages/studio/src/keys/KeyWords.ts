/** The words for keys: what a level includes, and which one action ends a finding. */
import { describeFinding, type KeyFinding } from "@roster/workflows"
import { DateTime } from "effect"
import { keyTexts } from "../texts/KeyTexts.ts"
import { localTime } from "../texts/Language.ts"
import { choices } from "./KeyAtoms.ts"

const sentences: Readonly<Record<string, string>> = keyTexts.levels

/** What a key with a level may do. */
export const levelSentence = (level: string): string => sentences[level] ?? level

/** The purposes that a level includes, as the command line names them. */
export const purposesOf = (level: string): string =>
  choices.find((choice) => choice.level === level)?.purposes.join(", ") ?? ""

/** The action that ends a finding. */
export const actionOf = (finding: KeyFinding): "Delete" | "Change" => {
  switch (finding._tag) {
    case "Expired":
    case "NeverUsed":
    case "Unused":
      return "Delete"
    case "UntoldLevels":
    case "Expiring":
    case "ReplacedInUse":
    case "UnusedLevels":
    case "ManagesKeys":
    case "UsableFromEverywhere":
      return "Change"
  }
}

/** What a finding says, with the times of the person's clock, and what to do. */
export const findingWords = (finding: KeyFinding): string => {
  const { advice, what } = describeFinding(finding)
  const said = what.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, (time) => localTime(DateTime.makeUnsafe(time)))
  return `${said[0]?.toUpperCase() ?? ""}${said.slice(1)}: ${advice}.`
}
