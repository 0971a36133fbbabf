/** An entry of the audit trail as people read it. */
import type { AuditEntry, WrittenContacts } from "@roster/domain"
import { DateTime } from "effect"

/** What an operation does with the credential that it names, before and after it was done. */
const deeds: Readonly<Record<string, readonly [to: string, done: string, what: string]>> = {
  securityApikeysPost: ["create", "created", "the key"],
  securityApikeysByNamePut: ["change", "changed", "the key"],
  securityApikeysByNameDelete: ["delete", "deleted", "the key"],
  securitySmtpPost: ["create", "created", "the SMTP credentials"],
  securitySmtpByNamePut: ["change", "changed", "the SMTP credentials"],
  securitySmtpByNameDelete: ["delete", "deleted", "the SMTP credentials"],
  restore: ["restore", "restored a backup, which concerned", "the credential"],
  contactsExportPost: ["export contacts", "exported contacts", "as"],
  download: ["download", "downloaded", "the export"]
}

const whoOf = ({ actor }: AuditEntry): string =>
  actor._tag === "Key" ? actor.name : actor._tag === "Owner" ? "the owner of the store" : "unknown"

/** How many contacts were written, in words. */
export const writtenWords = ({ added, changed, deleted, gainedMail, lostMail }: WrittenContacts): string => {
  const mail = [
    ...(gainedMail > 0 ? [`${gainedMail} of them gained mail`] : []),
    ...(lostMail > 0 ? [`${lostMail} of them lost it`] : [])
  ]
  return (
    `added ${added}, changed ${changed} and deleted ${deleted} contacts` +
    (mail.length === 0 ? "" : ` (${mail.join(", ")})`)
  )
}

const whatOf = ({ contacts, details, operation, outcome, subject }: AuditEntry): string => {
  if (contacts !== undefined) {
    const run =
      subject === null ? "without a run, in an hour" : `in the run ${subject} of ${details.command ?? "a program"}`
    return `${writtenWords(contacts)}, ${run}`
  }
  if (outcome === "FurtherRefusals") return `${details.count ?? "some"} further refusals in an hour`
  const [to, done, what] = deeds[operation] ?? [operation, operation, ""]
  const named = `${what} ${subject ?? ""}`.trim()
  if (outcome === "Done" || outcome === "Exported" || outcome === "Downloaded") {
    const more = [
      ...(details.renamedTo === undefined ? [] : [`named ${details.renamedTo} now`]),
      ...(details.levelsAdded ?? []).map((level) => `may ${level} now`),
      ...(details.levelsRemoved ?? []).map((level) => `may not ${level} any more`)
    ]
    return [`${done} ${named}`, ...(operation.endsWith("Put") ? more : [])].join(", ")
  }
  const why = details.required ?? details.because ?? details.field
  return `was refused to ${to} ${named}: ${outcome}${why === undefined ? "" : ` (${why})`}`
}

/** The row of an entry. */
export const rowOf = (entry: AuditEntry) => ({
  When: DateTime.formatIso(entry.time),
  Who: whoOf(entry),
  What: whatOf(entry),
  From: entry.peer ?? "",
  Account: entry.account
})
