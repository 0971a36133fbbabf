/**
 * Creates a credential, whose secret is shown only once. The output is opened before the request; if the secret cannot be
 * delivered after all, the credential is deleted again, since nobody could use it.
 */
import { Effect, FileSystem, Option, Redacted, type Schema } from "effect"
import { text } from "../shared/CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { refuseTaken } from "../../files/AtomicFile.ts"
import { printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { secretDelivery } from "./rotation/SecretDelivery.ts"
import { usageError } from "../../errors/UsageError.ts"
import { quoted, ResumeHint } from "../../terminal/ResumeHint.ts"

export const out = text("out", "Write only the secret to FILE (default: print it with the record)", "FILE")

const device = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stat(path).pipe(
    Effect.map(({ rdev, type }) => (type === "CharacterDevice" ? Option.getOrUndefined(rdev) : undefined)),
    Effect.orElseSucceed(() => undefined)
  )
})

/**
 * Refuses the null device, which Node opens if stdout is closed and which loses the secret, and the full device, which
 * fails only after the credential is created.
 */
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

interface Made {
  readonly name: string
  readonly token: Redacted.Redacted<string>
}

interface Kind<New extends Made, Shown, EC, RC, ED, RD> {
  readonly out: string | undefined
  readonly schema: Schema.Codec<New, unknown>
  /** The credential without its secret. */
  readonly shown: Schema.Codec<Shown, unknown>
  /** The command and the name that show whether the credential was created. */
  readonly look: readonly [command: string, name: New["name"]]
  readonly subaccount: string | undefined
  readonly create: Effect.Effect<New & Shown, EC, RC>
  readonly remove: (name: New["name"]) => Effect.Effect<void, ED, RD>
}

/** Creates a credential and delivers its secret. */
export const makeCredential = Effect.fnUntraced(function* <New extends Made, Shown, EC, RC, ED, RD>(
  kind: Kind<New, Shown, EC, RC, ED, RD>
) {
  const { out } = kind
  const output = yield* Output
  yield* out === undefined
    ? refuseNowhere
    : Effect.mapError(refuseTaken(out, { force: false }), ({ message }) => usageError(message, "Use another file."))
  const deliver = yield* secretDelivery({ out, exec: undefined }, kind.schema, ({ token }) =>
    Redacted.make(`${Redacted.value(token)}\n`)
  )
  const [get, name] = kind.look
  const account = kind.subaccount === undefined ? "" : ` --subaccount ${quoted(kind.subaccount)}`
  const hint = yield* ResumeHint
  hint.look = `${get} ${quoted(name)}${account}`
  const made = yield* kind.create
  const takeBack = kind.remove(made.name).pipe(
    Effect.match({
      onSuccess: () => `The secret could not be delivered, so ${made.name} was deleted again.`,
      onFailure: () => `The secret of ${made.name} could not be delivered and is lost. Delete ${made.name}.`
    }),
    Effect.flatMap(output.note)
  )
  yield* Effect.onError(deliver(made), () => takeBack)
  if (out === undefined) return
  yield* Results.record(kind.shown, made)
  yield* output.note(`The secret is in ${printable(out)} and nowhere else.`)
}, Effect.scoped)
