/** The names that a rotation gives, by which the next one knows what it left. (docs/decisions/rotation.md) */
import { canonicalEmail, emailAddressIssue } from "@roster/domain"
import { DateTime } from "effect"

/** The maximum length of the name of a credential. */
const maximumLength = 254

/** FNV-1a in eight digits, which tells long names with the same beginning apart. */
const fingerprint = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

/** A name with an ending, cut where that would be too long. */
const ending = (name: string, end: string): string => {
  if (name.length + end.length <= maximumLength) return `${name}${end}`
  const marked = `~${fingerprint(name)}${end}`
  const kept = name.slice(0, maximumLength - marked.length)
  // The cut may have split a surrogate pair.
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}${marked}`
}

/** The name of the successor of an API key until it takes the key's name. */
export const apiKeySuccessor = (name: string): string => ending(name, "~next")

/** The name of a replaced API key, with the day on which it ends: `ci~old-2026-11-29`, and `ci~old-2026-11-29.2` if that is taken. */
export const replacedApiKey = (name: string, ends: DateTime.Utc, number: number): string =>
  ending(name, `~old-${DateTime.formatIsoDateUtc(ends)}${number === 1 ? "" : `.${number}`}`)

/** Whether a rotation has replaced this API key: that of the name, or any. */
export const isReplacedApiKey = (candidate: string, name?: string): boolean => {
  const [end] = /~old-\d{4}-\d\d-\d\d(?:\.\d+)?$/.exec(candidate) ?? []
  return end !== undefined && (name === undefined || candidate === ending(name, end))
}

/** The end of a login that a rotation has made, as in `shop+20261121@example.com` and `shop+20261121-2@example.com`. */
const dated = /\+(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:-\d{1,3})?$/

const parts = (login: string): readonly [local: string, host: string] => {
  const at = login.lastIndexOf("@")
  return [login.slice(0, at), login.slice(at)]
}

/** The name of a successor of SMTP credentials on a day, or `undefined` if the part before the @ has no room for it. */
export const smtpSuccessor = (name: string, day: DateTime.Utc, number: number): string | undefined => {
  const [local, host] = parts(name)
  const date = DateTime.formatIsoDateUtc(day).replaceAll("-", "")
  const successor = `${local.replace(dated, "")}+${date}${number === 1 ? "" : `-${number}`}${host}`
  return emailAddressIssue(successor) === undefined ? successor : undefined
}

/** What a login and all its successors have in common. */
export const smtpOrigin = (login: string): string => {
  const [local, host] = parts(login)
  return canonicalEmail(`${local.replace(dated, "")}${host}`)
}

/** The end of the day on which a rotation made a login, by its name; `undefined` if none did. */
export const endOfSmtpDay = (login: string): DateTime.Utc | undefined => {
  const [, year, month, day] = dated.exec(parts(login)[0]) ?? []
  const time = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return Number.isNaN(time) ? undefined : DateTime.add(DateTime.makeUnsafe(time), { days: 1 })
}
