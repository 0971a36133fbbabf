/**
 * What a rotation remembers between two runs, in the state folder of the user: for this user alone, replaced as a whole, and
 * without secrets.
 */
import { type RotationJournal, RotationRecord } from "@roster/workflows"
import { Effect, FileSystem, Option, Path, Redacted, Schedule, Schema, Stream } from "effect"
import { hash } from "node:crypto"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { readOptional, withLock } from "../../../files/FileLock.ts"
import { prepare } from "../../../files/AtomicFile.ts"
import { usageError, type UsageError } from "../../../errors/UsageError.ts"
import { userFolder } from "../../../files/UserFolder.ts"

/** The rotation that is meant: of which credential, where. */
export interface RotationSubject {
  readonly target: string
  readonly kind: "apikeys" | "smtp"
  readonly name: string
  readonly subaccount: string | undefined
}

/** Beside the record, by what a file is known that the secret was written into: nobody finds 192 random bits by it. */
const Entry = Schema.Struct({ record: RotationRecord, delivered: Schema.optionalKey(Schema.String) })
type Entry = typeof Entry.Type

const text = Schema.fromJsonString(Entry)
const decode = Schema.decodeEffect(text)
const encode = Schema.encodeEffect(text)

const digestOf = (content: string): string => hash("sha256", content)

/** The journal of a rotation, while no other command has it. */
export interface JournalFile extends RotationJournal<UsageError> {
  /** Notes what is about to be written, so that a later run knows the file that it was written into. */
  readonly expect: (
    made: { readonly name: string; readonly dateCreated?: RotationRecord["created"] },
    content: Redacted.Redacted<string>
  ) => Effect.Effect<void, UsageError>
}

/** Where the journal is; its folder is made where it is missing. */
const pathOf = Effect.fnUntraced(function* ({ kind, name, subaccount, target }: RotationSubject) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* userFolder("state"), "rotations")
  yield* fs
    .makeDirectory(folder, { recursive: true, mode: 0o700 })
    .pipe(Effect.mapError(fileProblem(folder, "written")))
  return path.join(folder, `${digestOf(JSON.stringify([target, kind, name, subaccount ?? ""]))}.json`)
})

const journalOf = Effect.fnUntraced(function* (file: string, out: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const write = (entry: Entry) =>
    Effect.gen(function* () {
      const content = yield* Effect.orDie(encode(entry))
      const write = yield* prepare(file, { force: true })
      yield* write(Stream.make(new TextEncoder().encode(`${content}\n`)))
    }).pipe(Effect.scoped, Effect.provideContext(context))

  /** Whether the file holds what was to be written into it: then it was delivered, whether anybody could say so or not. */
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

/**
 * Runs a rotation with its journal. A second run of the same rotation is refused meanwhile. `out` is the file that the secret
 * is written into, where it is one.
 */
export const withJournal = Effect.fnUntraced(function* <A, E, R>(
  subject: RotationSubject,
  out: string | undefined,
  rotation: (journal: JournalFile) => Effect.Effect<A, E, R>
) {
  const file = yield* pathOf(subject)
  return yield* withLock(file, Effect.flatMap(journalOf(file, out), rotation), {
    // A lock that a killed command has left is taken at the second try; another one may be held for a day.
    schedule: Schedule.recurs(1),
    message: `Another command is rotating "${subject.name}".`
  })
})
