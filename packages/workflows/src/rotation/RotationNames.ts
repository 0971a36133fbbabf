/**
 * What a credential that is to take the place of another one is called. A later run has to know it again, so the name of an
 * API key's successor follows from its own; SMTP credentials log in with their name, so theirs keeps a date.
 */
import { DateTime } from "effect"
import { CredentialName, EmailAddress, emailAddressIssue } from "@roster/domain"

/** Of a name and of an address. */
const longest = 254

const suffix = "~next"

/** Tells long names apart of which only the beginning is kept: FNV-1a, in eight digits. */
const fingerprint = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

/** The name that the successor of an API key has until the key is gone. */
export const apiKeySuccessor = (name: string): CredentialName => {
  if (name.length + suffix.length <= longest) return CredentialName.make(`${name}${suffix}`)
  const end = `~${fingerprint(name)}${suffix}`
  const kept = name.slice(0, longest - end.length)
  // A sign of two units may have been cut in two.
  return CredentialName.make(`${kept.isWellFormed() ? kept : kept.slice(0, -1)}${end}`)
}

/** How many names a day has, and so how often SMTP credentials can be rotated in one. */
const namesOfDay = 20

/**
 * The names that SMTP credentials can be succeeded by on a day, the first choice first: `shop+20261121@example.com`, then
 * `shop+20261121-2@example.com`. A date that the name has already gives way. Empty where the part before the `@` has no room
 * for a date.
 */
export const smtpSuccessors = (name: string, day: DateTime.Utc): ReadonlyArray<EmailAddress> => {
  const at = name.lastIndexOf("@")
  const local = name.slice(0, at).replace(/\+\d{8}(?:-\d{1,2})?$/, "")
  const date = DateTime.formatIsoDateUtc(day).replaceAll("-", "")
  return Array.from({ length: namesOfDay }, (_, index) => index + 1)
    .map((number) => `${local}+${date}${number === 1 ? "" : `-${number}`}${name.slice(at)}`)
    .filter((successor) => successor !== name && emailAddressIssue(successor) === undefined)
    .map((successor) => EmailAddress.make(successor))
}
