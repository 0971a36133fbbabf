/**
 * A file with a secret that a commit elsewhere decides about. The secret is on disk before the commit and gets its name
 * after it, at the next start if the process was killed in between. (docs/decisions/secrets.md)
 */
import { isOfDatabase, syncFolder } from "@roster/workflows"
import { Effect, FileSystem, Path, type PlatformError, Redacted } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"
import { readOwn } from "./TrustedFile.ts"

/** A longer file holds no secret. */
const maximumBytes = 4096

const isAbsent = (error: PlatformError.PlatformError): boolean => error.reason._tag === "NotFound"

/** A file that is to stand at `target`, for the owner of the secret, such as a store. */
export const pendingFile = Effect.fnUntraced(function* (target: string, owner: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(target)
  const ofOwner = path.basename(owner).replaceAll(/[^\w.-]/g, "_")
  const pending = path.join(folder, `.${path.basename(target)}.${ofOwner}.new`)
  const remove = Effect.ignore(fs.remove(pending, { force: true }))

  /** Puts a secret on disk, without its name. An existing file is refused. */
  const write = Effect.fnUntraced(
    function* (secret: Redacted.Redacted<string>) {
      const isOwner = path.resolve(target) === path.resolve(owner)
      if (isOwner || (yield* Effect.provideService(isOfDatabase(target), FileSystem.FileSystem, fs)))
        return yield* Effect.fail({ code: "EBUSY" })
      // A link to nothing does not exist, and is taken all the same.
      const isTaken = (yield* fs.exists(target)) || (yield* Effect.isSuccess(fs.readLink(target)))
      if (isTaken) return yield* Effect.fail({ code: "EEXIST" })
      yield* fs.remove(pending, { force: true })
      yield* Effect.gen(function* () {
        // Exclusive: nobody else's file or link is written to.
        const file = yield* fs.open(pending, { flag: "wx", mode: 0o600 })
        yield* file.writeAll(new TextEncoder().encode(`${Redacted.value(secret)}\n`))
        yield* file.sync
      }).pipe(
        Effect.scoped,
        Effect.onError(() => remove)
      )
      yield* syncFolder(fs, folder)
    },
    Effect.mapError(fileProblem(target, "written"))
  )

  /** Fails where a secret could not be written, and leaves nothing. */
  const check = Effect.andThen(write(Redacted.make("")), remove)

  const pendingSecret = Effect.map(readOwn(pending, maximumBytes), (text) =>
    text === undefined ? undefined : Redacted.make(text.trimEnd())
  )

  /** Reserves the name, so that no other file is replaced. An empty file was reserved by a start that was killed. */
  const claim = fs.writeFile(target, new Uint8Array(), { flag: "wx", mode: 0o600 }).pipe(
    Effect.catch((taken) =>
      Effect.gen(function* () {
        const isEmpty = (yield* fs.stat(target)).size === 0n
        // Another process on the same store may have given it its name.
        if (!isEmpty && (yield* fs.exists(pending))) return yield* taken
      })
    )
  )

  /** Gives the secret its name if it is a kept one, and removes it if not. Returns whether there is a new file now. */
  const publish = Effect.fnUntraced(function* (isKept: (secret: Redacted.Redacted<string>) => boolean) {
    const secret = yield* pendingSecret
    if (secret === undefined) return false
    if (!isKept(secret)) return yield* Effect.as(remove, false)
    yield* claim.pipe(
      Effect.andThen(Effect.catchIf(fs.rename(pending, target), isAbsent, () => Effect.void)),
      Effect.mapError(fileProblem(target, "written"))
    )
    yield* syncFolder(fs, folder)
    return true
  })

  return { check, write, publish }
})
