/**
 * What API keys and SMTP credentials have in common: a name, the addresses they may be used from, an account, a secret
 * that is shown once, and the ways in which managing them can fail.
 */
import { Schema } from "effect"
import { isAddressable } from "../errors/InvalidInput.ts"

/** The name of a credential, as it stands in a path: 1 to 254 characters, no control characters. */
export const CredentialName = Schema.String.pipe(
  Schema.check(
    Schema.makeFilter(
      (name) =>
        (isAddressable(name) && name.length <= 254 && name.trim() === name && !/\p{Cc}/u.test(name)) ||
        "a name has 1 to 254 characters, none of them a control character, and no space at its ends"
    )
  ),
  Schema.brand("CredentialName")
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

/** Where a credential may be used from: a single address or a CIDR range, IPv4 or IPv6. */
export const IpRange = Schema.String.pipe(
  Schema.check(
    Schema.makeFilter(
      (text) => isIpRange(text) || "an address or range is written as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
    )
  ),
  Schema.brand("IpRange")
)
export type IpRange = typeof IpRange.Type

/**
 * The most credentials of one kind that an account holds.
 * (Service interface, Limits.)
 */
export const maximumCredentials = 15

export class CredentialNotFound extends Schema.TaggedError<CredentialNotFound>()("CredentialNotFound", {
  name: Schema.String
}) {
  override get message(): string {
    return `There is no credential "${this.name}".`
  }
}

export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", { name: Schema.String }) {
  override get message(): string {
    return `The name "${this.name}" is taken. Choose another one, or delete the credential that has it.`
  }
}

/** Without this key nobody could make, change or delete a key of the account over the network again. */
export class LastManagingKey extends Schema.TaggedError<LastManagingKey>()("LastManagingKey", {
  name: Schema.String
}) {
  override get message(): string {
    return `The key "${this.name}" is the last one that can manage keys, and has to stay as able as it is. Make another key with the access level ModifyAccessTokens first.`
  }
}

export class TooManyCredentials extends Schema.TaggedError<TooManyCredentials>()("TooManyCredentials", {
  maximum: Schema.Int
}) {
  override get message(): string {
    return `This account holds ${this.maximum} credentials of this kind already, which is the most it can. Delete one that is no longer used.`
  }
}
