/** The folder of the built page of Roster Studio, which `scripts/bundle.ts` writes beside the program. */
import { Effect, FileSystem, Path } from "effect"

/** The folder, which a checkout does not have before its first build. The address is the same from the bundle. */
export const studioFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* path.fromFileUrl(new URL("../../dist/roster/studio", import.meta.url))
  return (yield* fs.exists(path.join(folder, "index.html"))) ? folder : undefined
}).pipe(Effect.orElseSucceed(() => undefined))
