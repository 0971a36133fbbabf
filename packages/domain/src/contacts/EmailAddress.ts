/** E-mail addresses: what is valid, and which are the same. (docs/decisions/addresses.md) */
import { Schema } from "effect"
import { withFromText } from "../errors/Constructors.ts"

// Nearly all addresses have only these characters, which need no Unicode class.
const asciiAddress =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?)*$/
const atom = /^[^\s@.,;:"<>()[\]\\\p{Cc}\p{Cs}]+(?:\.[^\s@.,;:"<>()[\]\\\p{Cc}\p{Cs}]+)*$/u
const asciiLabels = /^[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?)*$/

// Compiled when needed: the letter classes are slow to compile, and most domains are ASCII.
let madeLabel: RegExp | undefined
const label = () => (madeLabel ??= /^[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_-]*[\p{L}\p{N}\p{M}])?$/u)

const isDomain = (text: string): boolean =>
  asciiLabels.test(text) || text.split(".").every((part) => label().test(part))

/** The problem of an address, or `undefined` for a valid one. */
export const emailAddressIssue = (text: string): string | undefined => {
  if (text.length === 0) return "an e-mail address is missing"
  if (text.length > 254) return "an e-mail address has at most 254 characters"
  const at = text.lastIndexOf("@")
  if (at < 0) return "an e-mail address has an @, as in name@example.com"
  if (at <= 64 && asciiAddress.test(text)) return undefined
  const local = text.slice(0, at)
  if (local.includes("@")) return "an e-mail address has only one @"
  if (local.length > 64) return "the part before the @ has at most 64 characters"
  if (!atom.test(local)) {
    return "the part before the @ has letters, digits and symbols, without spaces, quotes or two dots in a row"
  }
  if (!isDomain(text.slice(at + 1))) {
    return "the part after the @ is a domain such as example.com"
  }
  return undefined
}

/** A valid e-mail address: a dot-atom of at most 64 characters, one `@` and a domain, at most 254 characters in all. */
export const EmailAddress = withFromText(
  Schema.String.pipe(
    Schema.check(Schema.makeFilter(emailAddressIssue, { expected: "an e-mail address" })),
    Schema.brand("EmailAddress")
  ),
  "email"
)
export type EmailAddress = typeof EmailAddress.Type

// Not plain ASCII, or its ASCII form: `xn--bcher-kva.example` is `bücher.example`.
const international = /[^ -~]|(?:^|\.)xn--/

// An address without these has nothing to compose and no domain to translate.
const maybeInternational = /[^ -~]|xn--/

const asciiDomain = (domain: string): string =>
  international.test(domain) && isDomain(domain) ? (URL.parse(`http://${domain}`)?.hostname ?? domain) : domain

/** The canonical form for comparing addresses: trimmed, lower case, NFC, the domain in ASCII (IDNA). */
export const canonicalEmail = (email: string): string => {
  const lower = email.trim().toLowerCase()
  if (!maybeInternational.test(lower)) return lower
  // Composed last, since some accents have a composed form in lower case only.
  const text = lower.normalize("NFC")
  const domain = text.lastIndexOf("@") + 1
  return text.slice(0, domain) + asciiDomain(text.slice(domain))
}
