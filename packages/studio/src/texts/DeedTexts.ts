/** What was done to contacts, in words: the history of all and of one contact say the same. */
import type { RunHeader } from "@roster/workflows"
import { shortened } from "./SharedTexts.ts"

/** What each command does. */
export const deedTexts = {
  import: "Import",
  apply: "Import by a plan",
  update: "Change of contacts",
  add: "Addition of contacts",
  delete: "Deletion of contacts",
  convert: "Conversion of custom fields",
  "lists add": "Addition to a list",
  "lists remove": "Removal from a list",
  "lists delete": "Deletion of a list",
  restore: "Restoration of a backup",
  undo: "Undo",
  rotate: "New secret of a key"
}

const deeds: ReadonlyMap<string, string> = new Map(Object.entries(deedTexts))

/** What was done, and of what: a file, or a rule. */
export const whatOf = ({
  about,
  command
}: {
  readonly command: RunHeader["command"]
  readonly about?: RunHeader["about"] | undefined
}): string => {
  const deed = deeds.get(command) ?? command
  return about === undefined ? deed : `${deed}: ${shortened(about)}`
}
