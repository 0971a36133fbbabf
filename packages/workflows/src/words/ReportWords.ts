/** What a report says to people, in the same words on the command line and on the page. */
import type { WithheldStatus } from "@roster/domain"
import type { WouldResubscribe } from "../changes/ChangeAsRun.ts"
import type { UndoReport } from "../changes/Undo.ts"
import type { NewRecipients, RunReport } from "../runs/RunReport.ts"
import { counted, isWhole, numberText } from "../runs/Stopped.ts"

const people = (count: number): string => counted(count, "contact")

/** A count of a report as people read it. */
export interface ReportCount {
  /** Its name as JSON has it, in words: `notSent` is "not sent". */
  readonly words: string
  /** The number of rows or contacts. */
  readonly count: number
  /** Whether it is a part of those that are done. */
  readonly isPart: boolean
}

/** The counts in their order; those of `done` are its parts, and a rare one is shown only where it is not 0. */
const counts = [
  { name: "read" },
  { name: "done" },
  { name: "new", isPart: true },
  { name: "changed", isPart: true },
  { name: "deleted", isPart: true, isRare: true },
  { name: "alreadySo", isPart: true },
  { name: "unknownWhetherNew", isPart: true, isRare: true },
  { name: "rejected" },
  { name: "duplicates" },
  { name: "leftOut", isRare: true },
  { name: "outdated", isRare: true },
  { name: "notSent" },
  { name: "unknown" }
] as const satisfies ReadonlyArray<{ name: keyof RunReport; isPart?: true; isRare?: true }>

/** The counts of a report, which always add up. */
export const reportCounts = (report: RunReport): ReadonlyArray<ReportCount> => {
  // Where nobody knows what was done, 0 new ones would be wrong.
  const isKnown = report.unknownWhetherNew === 0 || report.unknownWhetherNew < report.done
  return counts.flatMap(({ name, ...kind }): ReadonlyArray<ReportCount> => {
    const count = report[name]
    const isPart = "isPart" in kind
    if (count === 0 && ("isRare" in kind || (isPart && !isKnown))) return []
    return [{ words: name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), count, isPart }]
  })
}

/** Who will receive mail by a plan, or receives it by a run, and did not before. Without a plan, nothing is promised. */
export const recipientWords = (
  { newRecipients }: { readonly newRecipients?: NewRecipients | undefined },
  isDone = false
): ReadonlyArray<string> => {
  if (newRecipients === undefined) return []
  const { added, people } = newRecipients
  const receive = isDone ? (people < 2 ? "now receives mail" : "now receive mail") : "will receive mail"
  return [
    people === 0
      ? `Nobody ${receive} who did not before.`
      : `${numberText(people)} ${people === 1 ? "person" : "people"} ${receive} who did not before, ` +
        `${numberText(added)} of them new.`
  ]
}

/** Whom an undo gives mail back, or would; nothing if nobody. */
export const givenBackWords = (
  report: { readonly newRecipients?: NewRecipients | undefined },
  isDone = false
): ReadonlyArray<string> => (report.newRecipients?.people ? recipientWords(report, isDone) : [])

/** In how many changes of a field only the form of its value changes, to stand behind their number. */
export const onlyFormWords = (count: number, onlyForm = 0): string =>
  onlyForm === 0 ? "" : onlyForm === count ? ", only its form" : `, ${numberText(onlyForm)} of them only its form`

/** What is asked before somebody gets mail who has a status that stops it, by that status: the fact, and what has to hold. */
export const resubscribeWords = ({ email, status }: Pick<WouldResubscribe, "email" | "status">) => ({
  fact: `${email} is ${status} and gets no mail.`,
  question: heals[status]
})

const heals = {
  Abuse: "They asked for mail again",
  Unsubscribed: "They asked for mail again",
  Bounced: "Their address takes mail again",
  NotConfirmed: "They have confirmed"
} as const satisfies Record<WithheldStatus, string>

/** Why a contact stays that an undo would change. */
export const unwritable = "a value of before may not be written"

/** What an undo does to contacts that its run created and others changed since, with its verb. */
export const strippedWords = (lose: string): string =>
  `that the run added and others changed since ${lose} what only the run gave them, and are NotConfirmed where it gave them mail`

/** What was done to contacts, or would be, as the parts of a sentence. */
export const deeds = (parts: ReadonlyArray<readonly [count: number, words: string]>): string =>
  parts.flatMap(([count, words]) => (count === 0 ? [] : [`${people(count)} ${words}`])).join(", ")

type Done = Pick<
  RunReport,
  "notSent" | "unknown" | "changed" | "deleted" | "new" | "outdated" | "rejected" | "newRecipients"
>

/** What a run did to contacts, or an undo of one, in sentences. */
export const reportWords = (
  report: Done & Partial<Pick<UndoReport, "partlyDone" | "stripped">>
): ReadonlyArray<string> => {
  const { changed, deleted, new: added, notSent, outdated, partlyDone, rejected, stripped = 0, unknown } = report
  const isUndo = partlyDone !== undefined
  const did = deeds([
    [deleted, "deleted"],
    [changed - stripped, isUndo ? "changed back" : "changed"],
    [added, isUndo ? "added again" : "added"],
    [stripped, strippedWords("lost")]
  ])
  const left = outdated + (partlyDone ?? 0)
  return [
    did === "" ? "Nothing was changed." : `${isUndo ? "Undone" : "Done"}: ${did}.`,
    ...(left === 0 ? [] : [`${people(left)} changed or deleted by others since: what they did stays.`]),
    ...(rejected === 0 ? [] : [`${people(rejected)} left: ${isUndo ? unwritable : "the service refused it"}.`]),
    ...(isWhole(report) ? [] : [`Of ${people(notSent + unknown)} it is not done or not known; do it again.`]),
    ...(isUndo ? givenBackWords(report, true) : [])
  ]
}
