/** The verbs of API keys and SMTP credentials, built from what differs between the two kinds. */
import { type AccountService, type CredentialOperations, CredentialsService } from "@roster/domain"
import { Context, Effect, FileSystem, Layer, Option, Redacted, type Schema, Stream } from "effect"
import { type Argument, Command } from "effect/cli"
import { subaccount } from "./CredentialFlags.ts"
import { secretDelivery } from "./SecretDelivery.ts"
import { usageError } from "../../errors/UsageError.ts"
import { refuseTaken } from "../../files/AtomicFile.ts"
import { Output } from "../../terminal/Output.ts"
import { printable } from "../../terminal/Printable.ts"
import { commandHere, ResumeHint } from "../../terminal/ResumeHint.ts"
import * as Results from "../../terminal/Results.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { outFile, withExamples } from "../shared/CommonFlags.ts"
import { confirm, yes } from "../shared/Confirm.ts"

/** A credential with its secret, as the service returns it once. */
interface Created {
  readonly name: string
  readonly token: Redacted.Redacted<string>
}

interface Payload {
  readonly name: string
  readonly subaccount?: string | undefined
}

interface CredentialKind<Credential, New extends Credential & Created, P extends Payload, Protected> {
  /** The word the user types. */
  readonly group: "apikeys" | "smtp"
  /** The credential and what follows from deleting it, as in "the API key" and "which stops working at once". */
  readonly noun: string
  readonly consequence: string
  /** A name for the examples. */
  readonly example: string
  readonly name: Argument.Argument<string>
  readonly schema: Schema.Codec<Credential, unknown>
  /** The schema of a new credential, with its secret. */
  readonly created: Schema.Codec<New, unknown>
  /** The fields of the table that `list` prints. */
  readonly columns: ReadonlyArray<string>
  /** Says what was done with it, before it is deleted. */
  readonly deeds?: (name: string, subaccount: string | undefined) => Effect.Effect<void, never, AccountService | Output>
  readonly operations: (
    services: CredentialsService["Service"]
  ) => Omit<CredentialOperations<Credential, New, P, Protected>, "update">
}

/** `list`, `get` and `delete` of one kind of credential. */
export const credentialVerbs = <Credential, New extends Credential & Created, P extends Payload, Protected>(
  kind: CredentialKind<Credential, New, P, Protected>
) => {
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
    withExamples({
      [`roster ${group} list`]: "",
      [`roster ${group} list --subaccount team@example.com`]: "List those of a subaccount"
    }),
    Command.provide(TargetLayer.layerForReads)
  )

  const get = Command.make(
    "get",
    { name, subaccount },
    Effect.fnUntraced(function* ({ name, subaccount }) {
      const { get } = yield* operations
      yield* Results.record(schema, yield* get(name, { subaccount }))
    })
  ).pipe(
    Command.withExamples([{ command: `roster ${group} get ${example}` }]),
    Command.provide(TargetLayer.layerForReads)
  )

  const remove = Command.make(
    "delete",
    { name, subaccount, yes },
    Effect.fnUntraced(function* ({ name, subaccount, yes }) {
      const service = yield* operations
      yield* kind.deeds?.(name, subaccount) ?? Effect.void
      yield* confirm(`delete ${noun} ${name}, ${consequence}`, { yes })
      yield* service.delete(name, { subaccount })
      yield* Results.done(`Deleted ${noun} ${name}`)
    })
  ).pipe(
    withExamples({
      [`roster ${group} delete ${example}`]: "",
      [`roster ${group} delete ${example} --yes`]: "Without a confirmation prompt"
    }),
    Command.provide(TargetLayer.layer)
  )

  return { list, get, remove }
}

export const out = outFile("Write only the secret to FILE (default: print it with the record)")

const device = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stat(path).pipe(
    Effect.map(({ rdev, type }) => (type === "CharacterDevice" ? Option.getOrUndefined(rdev) : undefined)),
    Effect.orElseSucceed(() => undefined)
  )
})

/** Refuses /dev/null, which Node opens for a closed stdout, and /dev/full, which fails only after the creation. */
const refuseNowhere = Effect.gen(function* () {
  const stdout = yield* device("/dev/stdout")
  for (const path of ["/dev/null", "/dev/full"]) {
    if (stdout === undefined || (yield* device(path)) !== stdout) continue
    return yield* usageError(
      `Stdout is ${path}, but the secret is shown only once. Nothing was created.`,
      "Write it to a file with --out."
    )
  }
})

/** Creates a credential and delivers its secret, which is shown only once, or else deletes the credential again. */
export const createCredential = Effect.fnUntraced(function* <
  Credential,
  New extends Credential & Created,
  P extends Payload,
  Protected
>(kind: CredentialKind<Credential, New, P, Protected>, payload: P, out: string | undefined) {
  const output = yield* Output
  const { name, subaccount } = payload
  yield* out === undefined
    ? refuseNowhere
    : Effect.mapError(refuseTaken(out, { force: false }), ({ message }) => usageError(message, "Use another file."))
  const deliver = yield* secretDelivery({ out, exec: undefined }, kind.created, ({ token }) =>
    Redacted.make(`${Redacted.value(token)}\n`)
  )
  const account = subaccount === undefined ? [] : ["--subaccount", subaccount]
  const hint = yield* ResumeHint
  hint.look = yield* commandHere([kind.group, "get", name, ...account])
  // A store is made only once the secret has a place.
  const services = yield* Layer.build(TargetLayer.layerForWrites({ makesStore: true }))
  const service = kind.operations(Context.get(services, CredentialsService))
  const created = yield* service.create(payload)
  const takeBack = service.delete(created.name, { subaccount }).pipe(
    Effect.matchEffect({
      onSuccess: () => output.note(`The secret could not be delivered, so ${created.name} was deleted again.`),
      onFailure: () =>
        output.noteExactly(
          printable(`The secret of ${created.name} could not be delivered and is lost. Delete ${created.name}.`)
        )
    })
  )
  yield* Effect.onError(deliver(created), () => takeBack)
  if (out === undefined) return
  yield* Results.record(kind.schema, created)
  yield* output.note(`The secret is in ${printable(out)} and nowhere else.`)
}, Effect.scoped)
