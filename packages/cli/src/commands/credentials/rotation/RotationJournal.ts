/** The journal of a rotation: a private file in the user's state folder, replaced atomically, without the secret. */
import { type RotationJournal, RotationRecord } from "@roster/workflows"
import { Effect, FileSystem, Option, Path, Redacted, Schema } from "effect"
import { hash } from "node:crypto"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { readOptional, withLock } from "../../../files/FileLock.ts"
import { writeLine } from "../../../files/AtomicFile.ts"
import { usageError, type UsageError } from "../../../errors/UsageError.ts"
import { stateFolder, userFolderPath } from "../../../files/UserFolder.ts"
import { printable } from "../../../terminal/Printable.ts"

/** Which credential is rotated, and on which target. */
interface RotationSubject {
  readonly target: string
  readonly kind: "apikeys" | "smtp"
  readonly name: string
  readonly subaccount: string | undefined
}

/** Where a secret is delivered to. A command line is not kept, since it may hold secrets. */
export const Destination = Schema.TaggedUnion({
  File: { path: Schema.String },
  Command: {},
  Output: {}
})
export type Destination = typeof Destination.Type

/** Where a secret went, in words. */
export const whereItWent = (destination: Destination): string => {
  switch (destination._tag) {
    case "File":
      return `was written to ${printable(destination.path)} by an earlier run`
    case "Command":
      return "was passed to the command of an earlier run"
    case "Output":
      return "was printed by an earlier run"
  }
}

/** The record, where the secret goes, and the SHA-256 of what is delivered: it does not reveal 192 random bits. */
const Entry = Schema.Struct({
  record: RotationRecord,
  delivered: Schema.optionalKey(Schema.String),
  destination: Schema.optionalKey(Destination)
})
type Entry = typeof Entry.Type

const text = Schema.fromJsonString(Entry)
const decode = Schema.decodeEffect(text)
const encode = Schema.encodeEffect(text)

const digestOf = (content: string): string => hash("sha256", content)

/** The journal of a rotation, locked for this command. */
export interface JournalFile extends RotationJournal<UsageError> {
  /** Records what is about to be delivered and where to, so that a later run recognises the file. */
  readonly expect: (
    made: { readonly name: string; readonly dateCreated?: RotationRecord["created"] },
    content: Redacted.Redacted<string>,
    destination: Destination
  ) => Effect.Effect<void, UsageError>
  /** Where an earlier run delivered the secret, with the content of that file if it is still there. */
  readonly delivered: Effect.Effect<
    { readonly destination: Destination; readonly content: Redacted.Redacted<string> | undefined } | undefined,
    UsageError
  >
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

  /** The file of a delivery, if it still holds what was to be written: that proves a delivery that was never recorded. */
  const contentOf = Effect.fnUntraced(function* ({ delivered, destination }: Omit<Entry, "record">) {
    const target = destination === undefined ? out : destination._tag === "File" ? destination.path : undefined
    if (delivered === undefined || target === undefined) return undefined
    const content = yield* Effect.option(fs.readFileString(target))
    return Option.isSome(content) && digestOf(content.value) === delivered ? Redacted.make(content.value) : undefined
  })

  /** What later records keep of a delivery. */
  let delivery: Omit<Entry, "record"> = {}

  const read = Effect.gen(function* () {
    const content = yield* readOptional(fs, file)
    if (Option.isNone(content)) return undefined
    const { record, ...rest } = yield* Effect.mapError(decode(content.value), () =>
      usageError(`${file} is not a rotation journal.`, "Move it, and run the command again.")
    )
    delivery = rest
    return record
  })

  const journal: JournalFile = {
    load: Effect.gen(function* () {
      const record = yield* read
      return record?.phase === "Started" && (yield* contentOf(delivery)) !== undefined
        ? ({ ...record, phase: "Delivered" } satisfies RotationRecord)
        : record
    }),
    save: (record) => write({ record, ...(record.phase === "Started" ? {} : delivery) }),
    clear: Effect.mapError(fs.remove(file, { force: true }), fileProblem(file, "written")),
    expect: ({ dateCreated, name }, content, destination) => {
      delivery = { delivered: digestOf(Redacted.value(content)), destination }
      const created = dateCreated === undefined ? {} : { created: dateCreated }
      return write({ record: { successor: name, phase: "Started", ...created }, ...delivery })
    },
    delivered: Effect.gen(function* () {
      yield* read
      const { destination } = delivery
      return destination === undefined ? undefined : { destination, content: yield* contentOf(delivery) }
    })
  }
  return journal
})

const fileName = ({ kind, name, subaccount = "", target }: RotationSubject): string =>
  `${digestOf(JSON.stringify([target, kind, name, subaccount]))}.json`

/** The folder of the journals, in the user's state folder. */
const folderName = "rotations"

/** The journal of a rotation, to be read: nothing is created. */
export const journalToRead = Effect.fnUntraced(function* (subject: RotationSubject, out: string | undefined) {
  const path = yield* Path.Path
  return yield* journalOf(path.join(yield* userFolderPath("state"), folderName, fileName(subject)), out)
})

/** Runs a rotation with its journal, locked against a second run. `out` is the file that gets the secret. */
export const withJournal = Effect.fnUntraced(function* <A, E, R>(
  subject: RotationSubject,
  out: string | undefined,
  rotation: (journal: JournalFile) => Effect.Effect<A, E, R>
) {
  const path = yield* Path.Path
  const file = path.join(yield* stateFolder(folderName), fileName(subject))
  // A rotation may last for a day, so it is not waited for.
  const message = `Another command is rotating "${subject.name}".`
  return yield* withLock(file, Effect.flatMap(journalOf(file, out), rotation), message)
})
