/** `roster smtp list`, `get`, `create`, `update` and `delete` */
import { CredentialsService, EmailAddress, NewSmtpCredentials, SmtpCredentials } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changesOf, checkChanges, rename, smtpFlags, subaccount } from "../CredentialFlags.ts"
import { createCredential, credentialVerbs, out } from "../CredentialVerbs.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { argument, withExamples } from "../../shared/CommonFlags.ts"

export const name = argument("name", EmailAddress, "User name for SMTP, an e-mail address")

const kind = {
  group: "smtp",
  noun: "the SMTP credentials",
  consequence: "which stop working at once",
  example: "shop@example.com",
  name,
  schema: SmtpCredentials,
  created: NewSmtpCredentials,
  columns: ["Name", "Expires", "LastUse", "DateCreated"],
  operations: ({ smtp }: CredentialsService["Service"]) => smtp
} as const

export const { get, list, remove } = credentialVerbs(kind)

export const create = Command.make(
  "create",
  { name, settings: smtpFlags.set, out, subaccount },
  Effect.fnUntraced(function* ({ name, out, settings, subaccount }) {
    yield* createCredential(kind, { name, ...Results.omitUndefined({ ...settings, subaccount }) }, out)
  })
).pipe(
  withExamples({
    "roster smtp create shop@example.com --expires 2030-12-31": "",
    "roster smtp create shop@example.com --out shop.password": "Write the secret, which is shown only once, to a file"
  })
)

export const update = Command.make(
  "update",
  { name, rename: rename(EmailAddress), ...smtpFlags, subaccount },
  Effect.fnUntraced(function* ({ name, rename, subaccount, ...flags }) {
    const { smtp } = yield* CredentialsService
    const changes = { name: rename, ...changesOf(flags), subaccount }
    yield* Results.record(SmtpCredentials, yield* smtp.update(name, changes))
  })
).pipe(
  Command.validate((changes) => checkChanges(changes, changes.rename !== undefined)),
  withExamples({
    "roster smtp update shop@example.com --expires 30d": "",
    "roster smtp update shop@example.com --rename sales@example.com": "Rename the credentials",
    "roster smtp update shop@example.com --no-expiry --no-ip-range": "Remove the expiry and the IP ranges"
  }),
  Command.provide(TargetLayer.layer)
)
