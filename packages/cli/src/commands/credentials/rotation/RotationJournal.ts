/** The journal of a rotation: a private file in the user's state folder, replaced atomically, without the secret. */
import { type RotationJournal, RotationRecord } from "@roster/workflows"
import { Effect, FileSystem, Option, Path, Redacted, Schedule, Schema } from "effect"
import { hash } from "node:crypto"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { readOptional, withLock } from "../../../files/FileLock.ts"
import { writeLine } from "../../../files/AtomicFile.ts"
import { usageError, type UsageError } from "../../../errors/UsageError.ts"
import { stateFolder } from "../../../files/UserFolder.ts"

/** Which credential is rotated, and on which target. */
interface RotationSubject {
  readonly target: string
  readonly kind: "apikeys" | "smtp"
  readonly name: string
  readonly subaccount: string | undefined
}

/** The record and the SHA-256 of the delivered content, which does not reveal a secret of 192 random bits. */
const Entry = Schema.Struct({ record: RotationRecord, delivered: Schema.optionalKey(Schema.String) })
type Entry = typeof Entry.Type

const text = Schema.fromJsonString(Entry)
const decode = Schema.decodeEffect(text)
const encode = Schema.encodeEffect(text)

const digestOf = (content: string): string => hash("sha256", content)

/** The journal of a rotation, locked for this command. */
export interface JournalFile extends RotationJournal<UsageError> {
  /** Records what is about to be written to a file, so that a later run recognises the file. */
  readonly expect: (
    made: { readonly name: string; readonly dateCreated?: RotationRecord["created"] },
    content: Redacted.Redacted<string>
  ) => Effect.Effect<void, UsageError>
}

const journalOf = Effect.fnUntraced(function* (file: string, out: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const write = (entry: Entry) =>
    Effect.orDie(encode(entry)).pipe(
      Effect.flatMap((line) => writeLine(file, line, { force: true })),
      Effect.asVoid,
      Effect.provideContext(context)
    )

  /** Whether the file holds what was to be written, which proves the delivery even if it was never recorded. */
  const isDelivered = Effect.fnUntraced(function* ({ delivered }: Entry) {
    if (delivered === undefined || out === undefined) return false
    const content = yield* Effect.option(fs.readFileString(out))
    return Option.isSome(content) && digestOf(content.value) === delivered
  })

  const journal: JournalFile = {
    load: Effect.gen(function* () {
      const content = yield* readOptional(fs, file)
      if (Option.isNone(content)) return undefined
      const entry = yield* Effect.mapError(decode(content.value), () =>
        usageError(`${file} is not a rotation journal.`, "Move it, and run the command again.")
      )
      const { record } = entry
      return record.phase === "Started" && (yield* isDelivered(entry))
        ? ({ ...record, phase: "Delivered" } satisfies RotationRecord)
        : record
    }),
    save: (record) => write({ record }),
    clear: Effect.mapError(fs.remove(file, { force: true }), fileProblem(file, "written")),
    expect: ({ dateCreated, name }, content) =>
      write({
        record: { successor: name, phase: "Started", ...(dateCreated === undefined ? {} : { created: dateCreated }) },
        delivered: digestOf(Redacted.value(content))
      })
  }
  return journal
})

/** Runs a rotation with its journal, locked against a second run. `out` is the file that gets the secret. */
export const withJournal = Effect.fnUntraced(function* <A, E, R>(
  subject: RotationSubject,
  out: string | undefined,
  rotation: (journal: JournalFile) => Effect.Effect<A, E, R>
) {
  const path = yield* Path.Path
  const { kind, name, subaccount = "", target } = subject
  const file = path.join(
    yield* stateFolder("rotations"),
    `${digestOf(JSON.stringify([target, kind, name, subaccount]))}.json`
  )
  return yield* withLock(file, Effect.flatMap(journalOf(file, out), rotation), {
    // The second attempt takes the lock that a killed command has left; a live one may be held for a day.
    schedule: Schedule.recurs(1),
    message: `Another command is rotating "${name}".`
  })
})
