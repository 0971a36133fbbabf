/** A part of a shared store for one test: an e-mail domain that no other test writes to. */
import { EmailAddress, RuleText } from "@roster/domain"

export interface Place {
  readonly domain: string
  readonly email: (local: string) => EmailAddress
  /** The rule that selects the contacts of this place and no others. */
  readonly rule: RuleText
  /** The same rule AND a condition of the test. */
  readonly where: (condition: string) => RuleText
}

/** The e-mail domain above all places of this process. No other run has it, so the suite can run again on an account. */
export const placesDomain = `${crypto.randomUUID().slice(0, 8)}.conformance.example`

let places = 0

export const place = (): Place => {
  const domain = `p${++places}.${placesDomain}`
  const ofPlace = `email ends-with '@${domain}'`
  return {
    domain,
    email: (local) => EmailAddress.make(`${local}@${domain}`),
    rule: RuleText.make(ofPlace),
    where: (condition) => RuleText.make(`${ofPlace} AND (${condition})`)
  }
}

/** Addresses that no contact can have, each with the reason. */
export const impossibleEmails: ReadonlyArray<readonly [why: string, email: string]> = [
  ["nothing", ""],
  ["a dot, which URLs fold away", "."],
  ["two dots", ".."],
  ["no @", "nobody"],
  ["a space", "a b@example.com"],
  ["a second @", "a@b@example.com"],
  ["a line break", "a@example.com\nb"],
  ["a NUL", "a\0b@example.com"],
  ["a lone surrogate", "a\ud800@example.com"],
  ["255 characters", `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example`]
]
