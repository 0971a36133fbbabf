/** `roster studio` */
import { DownloadNotice } from "@roster/domain"
import { Effect, Redacted, Stream } from "effect"
import { Command } from "effect/cli"
import { usageError } from "../../errors/UsageError.ts"
import { studioFolder } from "../../files/StudioFolder.ts"
import { toggle } from "../../settings/FlagForms.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import { flagsHere } from "../../terminal/ResumeHint.ts"
import { Signals } from "../../terminal/Signals.ts"
import { version } from "../../terminal/Version.ts"
import { portFlag, withExamples } from "../shared/CommonFlags.ts"
import { openBrowser } from "./Browser.ts"
import { rulesOnPage } from "./RulesOnPage.ts"

export const command = Command.make(
  "studio",
  {
    port: portFlag("Port of the page on this machine", 0),
    noOpen: toggle("no-open", "Open no browser; open the printed address yourself")
  },
  Effect.fnUntraced(function* ({ noOpen, port }) {
    const output = yield* Output
    const folder = yield* studioFolder
    if (folder === undefined) {
      return yield* usageError("This checkout has no built page.", "Build it with: pnpm build")
    }
    const { baseUrl, client, isStore, key, target } = yield* TargetLayer.passage
    const { name, identity = name, protectedBy } = target
    const StudioServer = yield* Effect.promise(() => import("@roster/server/StudioServer"))
    const { serveRunStorage } = yield* Effect.promise(() => import("@roster/workflows/RunStorageServer"))
    const studio = StudioServer.layer({
      page: { folder },
      port,
      target: { name, identity, isStore, version, flags: yield* flagsHere, protectedBy },
      service: { baseUrl, key },
      client,
      answers: {
        "/studio/runs": yield* serveRunStorage(yield* RunLogLayer.storage),
        "/studio/rules": yield* rulesOnPage("/studio/rules")
      }
    })
    const untilStopped = Effect.gen(function* () {
      const { addressToOpen } = yield* StudioServer.StudioServer
      const stopped = yield* (yield* Signals).expect
      const address = Redacted.value(addressToOpen)
      yield* output.note(
        `roster ${version} shows ${name} to this machine alone. Whoever has the address may do all that you may; Ctrl-C ends it.`
      )
      yield* output.write(Stream.make(`${address}\n`))
      if (!noOpen) yield* openBrowser(address)
      yield* stopped
    })
    yield* Effect.provide(untilStopped, studio).pipe(Effect.provideService(DownloadNotice, output.note))
  }, Effect.scoped)
).pipe(
  withExamples({
    "roster studio": "The local store, in a browser",
    "roster studio --db contacts.db": "Another store, which is made if it is new",
    "roster studio --profile production --no-open": "A service, whose key stays in this process"
  })
)
