/** `roster backup` */
import { Effect, FileSystem, Path } from "effect"
import { Argument, Command } from "effect/cli"
import { embeddedStoreFile, server } from "../../target/EmbeddedStore.ts"
import { fileProblem } from "../../errors/FileProblem.ts"
import { database, databaseUrl } from "../../settings/Database.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { count, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { noteBackup } from "../shared/LastBackup.ts"
import { refuseTaken } from "../../files/AtomicFile.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import { omitUndefined } from "../../terminal/Results.ts"
import * as Results from "../../terminal/Results.ts"

export const command = Command.make(
  "backup",
  {
    file: Argument.String("file").pipe(Argument.withDescription("File to write the backup to")),
    databaseUrl,
    force: toggle("force", "Overwrite the file if it exists"),
    keep: count(
      "keep",
      "Add the time to the name of the file, and keep the newest N backups so named; the older ones are removed once the new one is verified",
      1
    )
  },
  Effect.fnUntraced(function* ({ databaseUrl, file, force, keep }) {
    yield* refuseFlags([force && keep !== undefined, "--keep replaces no file: omit --force."])
    const from = (yield* database(databaseUrl)) ?? (yield* embeddedStoreFile({}))
    const path = yield* Path.Path
    yield* refuseTaken(file, { force: force || keep !== undefined, isDatabase: true })
    yield* (yield* FileSystem.FileSystem).access(path.dirname(file)).pipe(Effect.mapError(fileProblem(file, "written")))
    const { StoreBackup } = yield* server
    const { bytes, contacts, filename, removed } = yield* StoreBackup.create({ from, to: file, replace: force, keep })
    yield* noteBackup(from, filename)
    const written = keep === undefined ? file : path.join(path.dirname(file), path.basename(filename))
    const lines = [
      `Wrote ${printable(written)}: ${counted(contacts)}, ${bytes} bytes`,
      ...removed.map((older) => `Removed ${printable(older)}`)
    ]
    const kept = keep === undefined ? undefined : removed
    yield* Results.summary(omitUndefined({ ok: true, file: written, bytes, contacts, removed: kept }), lines.join("\n"))
  })
).pipe(
  withExamples({
    "roster backup monday.db --db roster.db": "",
    "roster backup monday.db --database-url postgres://roster@db.example.com/roster":
      "Back up a store on PostgreSQL, into the same kind of file",
    "roster backup nightly.db --keep 14": "Write nightly-TIME.db, and keep the newest 14 of that name",
    "roster backup latest.db --force": "Back up the default store, and replace the last backup"
  })
)
