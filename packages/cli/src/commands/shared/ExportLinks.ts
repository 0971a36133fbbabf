/**
 * The links of exports: a service tells a link only when the export begins, so that it is kept in a private file until the
 * export has expired. A store has the links of its exports itself.
 */
import { type ExportId, ExportLink, ExportNotFound } from "@roster/domain"
import { Duration, Effect, FileSystem, Option, Path, Schema } from "effect"
import { usageError } from "../../errors/UsageError.ts"
import { writeLine } from "../../files/AtomicFile.ts"
import { removeOld } from "../../files/Retention.ts"
import { readOwn } from "../../files/TrustedFile.ts"
import { stateFolder, userFolderPath } from "../../files/UserFolder.ts"
import { settings } from "../../settings/Settings.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"

/** How long links are kept. Services keep files for a day; one that keeps them longer is asked with the link. */
const keptFor = Duration.days(7)

/** Maximum number of links that are kept. */
export const maximumLinks = 1000

/** More than a link takes. */
const maximumBytes = 64 * 1024

const Kept = Schema.fromJsonString(ExportLink)
const encode = Schema.encodeEffect(Kept)
const decode = Schema.decodeOption(Kept)

/** The folder of the links, in the user's state folder. */
const folderName = "exports"

const fileOf = Effect.fnUntraced(function* (id: ExportId) {
  const path = yield* Path.Path
  return path.join(yield* userFolderPath("state"), folderName, `${id.toLowerCase()}.json`)
})

/** Makes room for one more link. */
const makeRoom = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* stateFolder(folderName)
  const names = yield* fs.readDirectory(folder)
  yield* removeOld(
    names.map((name) => path.join(folder, name)),
    { keptFor, maximumFiles: maximumLinks - 1 }
  )
})

/** Keeps the link of an export that has begun. A failure to keep it does not fail the export. */
export const keepLink = Effect.fnUntraced(
  function* (link: ExportLink) {
    if ((yield* settings)._tag === "Local") return
    yield* Effect.ignore(makeRoom)
    yield* writeLine(yield* fileOf(link.id), yield* Effect.orDie(encode(link)), { force: true })
  },
  (keep) => Effect.ignore(keep)
)

/** Forgets the link of an export whose file is no longer needed. */
export const forgetLink = Effect.fnUntraced(
  function* (id: ExportId) {
    if ((yield* settings)._tag === "Local") return
    const fs = yield* FileSystem.FileSystem
    yield* fs.remove(yield* fileOf(id), { force: true })
  },
  (forget) => Effect.ignore(forget)
)

/** The link of an export; `undefined` if this command line has not begun it and the service does not tell. */
export const findLink = Effect.fnUntraced(function* (id: ExportId) {
  const on = yield* settings
  if (on._tag === "Local") {
    const { Jobs } = yield* EmbeddedStore.server
    return yield* Effect.flatMap(Jobs.Jobs, ({ exportLink }) => exportLink(id)).pipe(
      Effect.provide(EmbeddedStore.jobsOf(on.filename)),
      Effect.catchTag("JobNotFound", () => new ExportNotFound({ id }))
    )
  }
  const content = yield* Effect.option(Effect.flatMap(fileOf(id), (file) => readOwn(file, maximumBytes)))
  return Option.getOrUndefined(Option.flatMap(content, (text = "") => decode(text)))?.link
})

/** The link of an export, to download it. */
export const knownLink = Effect.fnUntraced(function* (id: ExportId) {
  const link = yield* findLink(id)
  if (link !== undefined) return link
  return yield* usageError(
    `The link of the export ${id} is not known here: a service tells it only when the export begins.`,
    "Use the link that roster contacts export --no-wait printed."
  )
})
