/** The words for keys: what a level includes, which one action ends a finding, and how far a rotation is. */
import { describeFinding, type KeyFinding, type RotationStep } from "@roster/workflows"
import type { DateTime } from "effect"
import { textOf } from "../contacts/ContactColumn.ts"
import { choices, type Kind } from "./KeyAtoms.ts"

const sentences: Readonly<Record<string, string>> = {
  ViewContacts: "Read all contacts",
  ModifyContacts: "Add, import, change and delete contacts: it can overwrite or delete every one",
  Export: "Export all contacts into files",
  SendHttp: "Send e-mail",
  Security: "See which keys and SMTP credentials there are, without their secrets",
  ModifyAccessTokens: "Make, change and delete keys and SMTP credentials, but none that may more than itself"
}

/** What a key with a level may do. */
export const levelSentence = (level: string): string => sentences[level] ?? level

/** The purposes that a level includes, as the command line names them. */
export const purposesOf = (level: string): string =>
  choices.find((choice) => choice.level === level)?.purposes.join(", ") ?? ""

/** What the two kinds are called. */
export const kindNames: Readonly<Record<Kind, string>> = { apikeys: "API key", smtp: "SMTP credentials" }

/** The action that ends a finding. */
export const actionOf = (finding: KeyFinding): "Delete" | "Change" => {
  switch (finding._tag) {
    case "Expired":
    case "NeverUsed":
    case "Unused":
      return "Delete"
    case "UntoldLevels":
    case "Expiring":
    case "UnusedLevels":
    case "ManagesKeys":
    case "UsableFromEverywhere":
      return "Change"
  }
}

/** What a finding says, with the times of the person's clock, and what to do. */
export const findingWords = (finding: KeyFinding): string => {
  const { advice, what } = describeFinding(finding)
  const time: DateTime.Utc | undefined =
    "expires" in finding
      ? finding.expires
      : "lastUse" in finding
        ? finding.lastUse
        : "created" in finding
          ? finding.created
          : undefined
  const said = time === undefined ? what : what.replace(/\d{4}-\d\d-\d\dT\S+$/, textOf(time))
  return `${said[0]?.toUpperCase() ?? ""}${said.slice(1)}: ${advice}.`
}

/** A step of a rotation. */
export const stepWords = (step: RotationStep): string => {
  switch (step._tag) {
    case "Discarded":
      return `A successor that nobody had used, ${step.successor}, is deleted.`
    case "Made":
      return `The successor ${step.successor} is made.`
    case "Delivered":
      return "You have kept the new secret. Give it to the programs that use the old one."
    case "Resumed":
      return `An earlier rotation had come this far with ${step.successor}.`
    case "Waiting":
      return step.lastUse === null
        ? `Waiting to see whether ${step.name} is used.`
        : `Waiting until ${step.name} is not used for a while; it was used last at ${textOf(step.lastUse)}.`
    case "StillUsed":
      return `${step.name} is still used, last at ${textOf(step.lastUse)}.`
    case "Unanswered":
      return `The service gave no answer: ${step.message} It is asked again.`
    case "Deleted":
      return `The old ${step.name} is deleted.`
    case "Renamed":
      return `${step.successor} is called ${step.name} now.`
  }
}
