/**
 * The verbs that API keys and SMTP credentials share, built from what differs between the two kinds.
 */
import {
  type CredentialNotFound,
  CredentialsService,
  type EmailAddress,
  type InvalidInput,
  type ServiceError
} from "@roster/domain"
import { Effect, type Schema, Stream } from "effect"
import { type Argument, Command } from "effect/cli"
import { subaccount } from "./CredentialFlags.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import * as Results from "../../terminal/Results.ts"
import * as Target from "../../target/Target.ts"
import { confirm, yes } from "../shared/Confirm.ts"

interface Scope {
  readonly subaccount: EmailAddress | undefined
}

export interface CredentialKind<Credential, Protected> {
  /** The word the user types. */
  readonly group: "apikeys" | "smtp"
  /** The credential and what follows from deleting it, as in "the API key" and "which stops working at once". */
  readonly noun: string
  readonly consequence: string
  /** A name for the examples. */
  readonly example: string
  readonly name: Argument.Argument<string>
  readonly schema: Schema.Codec<Credential, unknown>
  /** The fields of the table that `list` prints. */
  readonly columns: ReadonlyArray<string>
  readonly operations: (services: CredentialsService["Service"]) => {
    readonly list: (of: Scope) => Effect.Effect<ReadonlyArray<Credential>, InvalidInput | ServiceError>
    readonly get: (
      name: string,
      of: Scope
    ) => Effect.Effect<Credential, CredentialNotFound | InvalidInput | ServiceError>
    readonly delete: (
      name: string,
      of: Scope
    ) => Effect.Effect<void, CredentialNotFound | Protected | InvalidInput | ServiceError>
  }
}

/** `list`, `get` and `delete` of one kind of credential. */
export const credentialVerbs = <Credential, Protected>(kind: CredentialKind<Credential, Protected>) => {
  const { columns, consequence, example, group, name, noun, schema } = kind
  const operations = Effect.map(CredentialsService, kind.operations)

  const list = Command.make(
    "list",
    { subaccount },
    Effect.fnUntraced(function* (of) {
      const { list } = yield* operations
      yield* Results.records(schema, columns, Stream.fromArrayEffect(list(of)))
    })
  ).pipe(
    Command.withExamples([
      { command: `roster ${group} list` },
      { command: `roster ${group} list --subaccount team@example.com`, description: "List those of a subaccount" }
    ]),
    Command.provide(Target.layer)
  )

  const get = Command.make(
    "get",
    { name, subaccount },
    Effect.fnUntraced(function* ({ name, subaccount }) {
      const { get } = yield* operations
      yield* Results.record(schema, yield* get(name, { subaccount }))
    })
  ).pipe(Command.withExamples([{ command: `roster ${group} get ${example}` }]), Command.provide(Target.layer))

  const remove = Command.make(
    "delete",
    { name, subaccount, yes, dryRun },
    Effect.fnUntraced(function* ({ dryRun, name, subaccount, yes }) {
      const service = yield* operations
      yield* confirm(`delete ${noun} ${name}, ${consequence}`, { yes: yes || dryRun })
      yield* service.delete(name, { subaccount })
      yield* Results.done(`Deleted ${noun} ${name}`)
    })
  ).pipe(
    Command.withExamples([
      { command: `roster ${group} delete ${example}` },
      { command: `roster ${group} delete ${example} --yes`, description: "Without a confirmation prompt" }
    ]),
    Command.provide(({ dryRun }) => Target.layerForWrites({ dryRun }))
  )

  return { list, get, remove }
}
