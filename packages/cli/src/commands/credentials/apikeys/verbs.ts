/** `roster apikeys list`, `get`, `create`, `update` and `delete` */
import {
  ApiKey,
  type ApiKeyPayload,
  type ApiKeyUpdatePayload,
  CredentialName,
  type CredentialOperations,
  CredentialsService,
  type LastManagingKey,
  NewApiKey
} from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import {
  apiKeyFlags,
  changesOf,
  checkChanges,
  levelFlags,
  levelNotes,
  levelsOf,
  namesLevels,
  rename,
  subaccount
} from "../CredentialFlags.ts"
import { createCredential, credentialVerbs, out } from "../CredentialVerbs.ts"
import { noteDeeds } from "./KeyDeeds.ts"
import * as Results from "../../../terminal/Results.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { withHelp } from "../../shared/HelpExtras.ts"
import { argument, refuseFlags, withExamples } from "../../shared/CommonFlags.ts"

export const name = argument("name", CredentialName, "Name of the key")

const kind = {
  group: "apikeys",
  noun: "the API key",
  consequence: "which stops working at once",
  example: "ci-sync",
  deeds: noteDeeds,
  name,
  schema: ApiKey,
  created: NewApiKey,
  columns: ["Name", "AccessLevel", "Expires", "LastUse", "DateCreated"],
  operations: ({
    apiKeys
  }: CredentialsService["Service"]): CredentialOperations<
    ApiKey,
    NewApiKey,
    ApiKeyPayload,
    LastManagingKey,
    ApiKeyUpdatePayload
  > => apiKeys
} as const

export const { get, list, remove } = credentialVerbs(kind)

export const create = Command.make(
  "create",
  { name, ...levelFlags, settings: apiKeyFlags.set, out, subaccount },
  Effect.fnUntraced(function* ({ name, out, settings, subaccount, ...levels }) {
    const given = Results.omitUndefined({ ...settings, subaccount })
    yield* createCredential(kind, { name, accessLevels: levelsOf(levels), ...given }, out)
  })
).pipe(
  Command.validate((flags) =>
    refuseFlags([
      !namesLevels(flags),
      "Set what the key may do: --for contacts:read,export, or --access ViewContacts,Export."
    ])
  ),
  withExamples({
    "roster apikeys create ci-sync --for contacts:read,export --expires 30d": "",
    "roster apikeys create ci-sync --access ViewContacts,Export --expires 30d": "The same, with access levels",
    "roster apikeys create office --access ModifyContacts --ip-range 192.0.2.0/24": "Allow use from one network only",
    "roster apikeys create ci-sync --access Export --out ci-sync.key":
      "Write the secret, which is shown only once, to a file"
  }),
  withHelp({ notes: levelNotes })
)

export const update = Command.make(
  "update",
  { name, rename: rename(CredentialName), ...levelFlags, ...apiKeyFlags, subaccount },
  Effect.fnUntraced(function* ({ access, for: wanted, name, rename, subaccount, ...flags }) {
    const { apiKeys } = yield* CredentialsService
    const levels = { access, for: wanted }
    const accessLevels = namesLevels(levels) ? levelsOf(levels) : undefined
    const changes = { name: rename, accessLevels, ...changesOf(flags), subaccount }
    yield* Results.record(ApiKey, yield* apiKeys.update(name, changes))
  })
).pipe(
  Command.validate((flags) => checkChanges(flags, flags.rename !== undefined || namesLevels(flags))),
  withExamples({
    "roster apikeys update ci-sync --access ViewContacts,Export,Security": "",
    "roster apikeys update ci-sync --for contacts:read,export": "Replace all access levels",
    "roster apikeys update ci-sync --rename ci-sync-old --expires 7d": "Rename the key and set an expiry",
    "roster apikeys update ci-sync --no-expiry --no-ip-range": "Remove the expiry and the IP ranges"
  }),
  withHelp({ notes: levelNotes }),
  Command.provide(TargetLayer.layer)
)
