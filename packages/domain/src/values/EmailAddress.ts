/**
 * An e-mail address that a contact, an SMTP login or a subaccount can be made under: a dot-atom, one `@`, a domain; at
 * most 254 characters, 64 of them before the `@`. Letters of any script are fine, and so are `/ ? # % & = + '`.
 * (docs/decisions/addresses.md)
 */
import { Schema } from "effect"

const atom = /^[^\s@.,;:"<>()[\]\\\p{Cc}\p{Cs}]+(?:\.[^\s@.,;:"<>()[\]\\\p{Cc}\p{Cs}]+)*$/u
const asciiLabels = /^[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?)*$/

// A pattern with the letters of all scripts takes a while to make, and most domains need none of them.
let madeLabel: RegExp | undefined
const label = () => (madeLabel ??= /^[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_-]*[\p{L}\p{N}\p{M}])?$/u)

const isDomain = (text: string): boolean =>
  asciiLabels.test(text) || text.split(".").every((part) => label().test(part))

/** Says what is wrong with an address, or `undefined` where nothing is. */
export const emailAddressIssue = (text: string): string | undefined => {
  if (text.length === 0) return "an e-mail address is missing"
  if (text.length > 254) return "an e-mail address has at most 254 characters"
  const at = text.lastIndexOf("@")
  if (at < 0) return "an e-mail address has an @, as in name@example.com"
  const local = text.slice(0, at)
  if (local.includes("@")) return "an e-mail address has only one @"
  if (local.length > 64) return "the part before the @ has at most 64 characters"
  if (!atom.test(local)) {
    return "the part before the @ is letters, digits and signs without spaces, quotes or two dots in a row"
  }
  if (!isDomain(text.slice(at + 1))) {
    return "the part after the @ is a domain such as example.com"
  }
  return undefined
}

export const EmailAddress = Schema.String.pipe(
  Schema.check(Schema.makeFilter(emailAddressIssue, { expected: "an e-mail address" })),
  Schema.brand("EmailAddress")
)
export type EmailAddress = typeof EmailAddress.Type

// What is not plain ASCII, or stands for it: `xn--bcher-kva.example` is `bücher.example` on its way.
const international = /[^ -~]|(?:^|\.)xn--/

// Where nothing of it is in a whole address, there is nothing to compose and no domain to translate.
const maybeInternational = /[^ -~]|xn--/

const asciiDomain = (domain: string): string =>
  international.test(domain) && isDomain(domain) ? (URL.parse(`http://${domain}`)?.hostname ?? domain) : domain

/**
 * The identity of an address: trimmed, lower case, NFC, the domain in ASCII (IDNA). Two spellings with the same identity
 * are the same contact; the first spelling is the one that is kept.
 */
export const canonicalEmail = (email: string): string => {
  const lower = email.trim().toLowerCase()
  if (!maybeInternational.test(lower)) return lower
  // Composed last: there are accents that have a composed form in lower case only.
  const text = lower.normalize("NFC")
  const domain = text.lastIndexOf("@") + 1
  return text.slice(0, domain) + asciiDomain(text.slice(domain))
}
