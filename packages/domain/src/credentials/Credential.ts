/** The names, ranges, limits and errors that API keys and SMTP credentials share. */
import { Schema } from "effect"
import { withFromText } from "../errors/Constructors.ts"
import { nameIssue } from "../values/Characters.ts"
import { answerDate, nullableAnswerDate } from "../values/OptionalField.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** The name of a credential: 1 to 254 characters, which can stand in a path, and no control characters. */
export const CredentialName = withFromText(
  Schema.String.pipe(
    Schema.check(
      Schema.makeFilter(
        (name) => nameIssue(name, 254) ?? (name.trim() === name ? true : "it has a space at one of its ends")
      )
    ),
    Schema.brand("CredentialName")
  ),
  "name"
)
export type CredentialName = typeof CredentialName.Type

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`)

const isIPv6 = (text: string): boolean =>
  /^[0-9a-f:.]+$/i.test(text) && text.includes(":") && URL.canParse(`http://[${text}]/`)

const isIpRange = (text: string): boolean => {
  const [address = "", prefix, ...rest] = text.split("/")
  if (rest.length > 0 || (prefix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefix))) return false
  const bits = Number(prefix ?? "0")
  return ipv4.test(address) ? bits <= 32 : isIPv6(address) && bits <= 128
}

/** The addresses a credential may be used from: a single one or a CIDR range, IPv4 or IPv6. */
export const IpRange = withFromText(
  Schema.String.pipe(
    Schema.check(
      Schema.makeFilter(
        (text) => isIpRange(text) || "an address or range is written as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
      )
    ),
    Schema.brand("IpRange")
  ),
  "ipRanges"
)
export type IpRange = typeof IpRange.Type

/** The maximum number of addresses and ranges of one credential. */
export const maximumIpRanges = 256

/** The maximum number of credentials of one kind in an account. Those that have ended do not count. */
export const maximumCredentials = 15

/** The maximum number of credentials of one kind in an account with those that have ended. */
export const maximumKeptCredentials = 100

/** What the service returns of every credential besides its settings. */
export const credentialFields = {
  /** The name, unique among the credentials of its kind. */
  name: Schema.String,
  /** When the credential was made, in UTC. */
  dateCreated: answerDate,
  /** When the credential was last used, in UTC; `null` if never. A service may record one use a minute. */
  lastUse: nullableAnswerDate
}

/** What only a new credential has. */
export const secretField = {
  /** The secret, or the password of SMTP credentials: text on the wire, redacted elsewhere. No other answer has it. */
  token: Schema.RedactedFromValue(Schema.String, { label: "token" })
}

/** There is no credential with this name. */
export class CredentialNotFound extends TaggedError<CredentialNotFound>()("CredentialNotFound", {
  name: Schema.String
}) {
  override get message(): string {
    return `There is no credential "${this.name}".`
  }
}

/** Another credential, or another list, has this name. */
export class NameTaken extends TaggedError<NameTaken>()("NameTaken", {
  name: Schema.String,
  /** Whether it is the name of a list. */
  isOfList: Schema.optionalKey(Schema.Literal(true))
}) {
  override get message(): string {
    const what = this.isOfList === true ? "list" : "credential"
    return `The name "${this.name}" is taken. Choose another one, or delete the ${what} that has it.`
  }
}

/** The change would leave the account without a key that can manage keys over the network. */
export class LastManagingKey extends TaggedError<LastManagingKey>()("LastManagingKey", {
  name: Schema.String
}) {
  override get message(): string {
    return (
      `The key "${this.name}" is the last one that can manage keys, so it must keep its access level, expiry ` +
      "and ranges. Make another key with the access level ModifyAccessTokens first."
    )
  }
}

/** The account already has the maximum number of credentials of this kind. */
export class TooManyCredentials extends TaggedError<TooManyCredentials>()("TooManyCredentials", {
  /** The number that an account may have. */
  maximum: Schema.Int
}) {
  override get message(): string {
    return (
      `This account already has ${this.maximum} credentials of this kind, the maximum. Delete one that is no ` +
      "longer used."
    )
  }
}
