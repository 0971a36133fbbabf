/**
 * An e-mail address that a contact, an SMTP login or a subaccount can be made under: a dot-atom, one `@`, a domain; at
 * most 254 characters, 64 of them before the `@`. Letters of any script are fine, and so are `/ ? # % & = + '`.
 * (docs/decisions/addresses.md)
 */
import { Schema } from "effect"

const atom = /^[^\s@.,;:"<>()[\]\\\p{Cc}\p{Cs}]+(?:\.[^\s@.,;:"<>()[\]\\\p{Cc}\p{Cs}]+)*$/u
const label = /^[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_-]*[\p{L}\p{N}\p{M}])?$/u

/**
 * Says what is wrong with an address, or `undefined` where nothing is.
 *
 * @category validation
 * @since 0.1.0
 */
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
  if (
    !text
      .slice(at + 1)
      .split(".")
      .every((part) => label.test(part))
  ) {
    return "the part after the @ is a domain such as example.com"
  }
  return undefined
}

/**
 * @category schemas
 * @since 0.1.0
 */
export const EmailAddress = Schema.String.pipe(
  Schema.check(Schema.makeFilter(emailAddressIssue, { expected: "an e-mail address" })),
  Schema.brand("EmailAddress")
)
export type EmailAddress = typeof EmailAddress.Type

/**
 * The identity of an address: trimmed, NFC, lower case. Two spellings with the same identity are the same contact; the
 * first spelling is the one that is kept.
 *
 * @category identity
 * @since 0.1.0
 */
export const emailIdentity = (email: string): string => email.trim().normalize("NFC").toLowerCase()
