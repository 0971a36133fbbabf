import { prepareFile } from "@roster/workflows"
import { Effect, FileSystem, Stream } from "effect"

export const example = Effect.gen(function* () {
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const write = yield* prepareFile(`${folder}/report.json`, { reserve: 2 })
  return yield* write(Stream.make(new TextEncoder().encode("{}")))
})
