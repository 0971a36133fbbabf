/** `roster backup` */
import { Effect, FileSystem, Path } from "effect"
import { Argument, Command } from "effect/cli"
import { embeddedStoreFile, server } from "../../target/EmbeddedStore.ts"
import { fileProblem } from "../../errors/FileProblem.ts"
import { database, databaseUrl } from "../../settings/Database.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { withExamples } from "../shared/CommonFlags.ts"
import { refuseTaken } from "../../files/AtomicFile.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"

export const command = Command.make(
  "backup",
  {
    file: Argument.String("file").pipe(Argument.withDescription("File to write the backup to")),
    databaseUrl,
    force: toggle("force", "Overwrite the file if it exists")
  },
  Effect.fnUntraced(function* ({ databaseUrl, file, force }) {
    const from = (yield* database(databaseUrl)) ?? (yield* embeddedStoreFile)
    const path = yield* Path.Path
    yield* refuseTaken(file, { force })
    yield* (yield* FileSystem.FileSystem).access(path.dirname(file)).pipe(Effect.mapError(fileProblem(file, "written")))
    const { StoreBackup } = yield* server
    const { bytes, contacts } = yield* StoreBackup.create({ from, to: file, replace: force })
    yield* Results.summary(
      { ok: true, file, bytes, contacts },
      `Wrote ${printable(file)}: ${counted(contacts)}, ${bytes} bytes`
    )
  })
).pipe(
  withExamples({
    "roster backup monday.db --db roster.db": "",
    "roster backup monday.db --database-url postgres://roster@db.example.com/roster":
      "Back up a store on PostgreSQL, into the same kind of file",
    "roster backup latest.db --force": "Back up the default store, and replace the last backup"
  })
)
