/** What a credential is made by that is as able and as limited as another one. */
import { DateTime, Effect, Schema } from "effect"
import {
  AccessLevel,
  type ApiKey,
  type ApiKeyPayload,
  CredentialName,
  EmailAddress,
  IpRange,
  type SmtpCredentials,
  type SmtpCredentialsPayload
} from "@roster/domain"
import { RotationRefused } from "./RotationError.ts"

export interface Copyable {
  readonly name: string
  readonly dateCreated?: DateTime.Utc
  readonly lastUse?: DateTime.Utc | null
  readonly expires?: DateTime.Utc | null
  readonly ipRanges?: ReadonlyArray<string>
}

const areRanges = Schema.is(Schema.Array(IpRange))
const areLevels = Schema.is(Schema.Array(AccessLevel))

/** Expiry and ranges. Left out, they would open the copy to everybody and for ever. */
const limitsOf = Effect.fnUntraced(function* ({ expires, ipRanges = [], name }: Copyable) {
  if (expires != null && DateTime.isLessThanOrEqualTo(expires, yield* DateTime.now)) {
    return yield* new RotationRefused({
      name,
      issue: "it has expired, and its successor would have too. Change its expiry first."
    })
  }
  if (!areRanges(ipRanges)) {
    const issue =
      "it has addresses that this version cannot write again. Change its ranges first, or use a newer version."
    return yield* new RotationRefused({ name, issue })
  }
  return { ipRanges, expires: expires ?? undefined }
})

export const copyApiKey = Effect.fnUntraced(function* (
  key: ApiKey,
  name: string,
  subaccount: EmailAddress | undefined
) {
  const { accessLevels } = key
  if (!areLevels(accessLevels)) {
    const issue = "it has access levels that this version does not know and would take away. Use a newer version."
    return yield* new RotationRefused({ name: key.name, issue })
  }
  const limits = yield* limitsOf(key)
  // Names come from the service or from `apiKeySuccessor`.
  const payload: ApiKeyPayload = {
    name: CredentialName.make(name, { disableChecks: true }),
    accessLevels,
    ...limits,
    subaccount
  }
  return payload
})

export const copySmtp = Effect.fnUntraced(function* (
  credentials: SmtpCredentials,
  name: string,
  subaccount: EmailAddress | undefined
) {
  const payload: SmtpCredentialsPayload = {
    name: EmailAddress.make(name, { disableChecks: true }),
    ...(yield* limitsOf(credentials)),
    subaccount
  }
  return payload
})
