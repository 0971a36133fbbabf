/** `roster studio` */
import { DownloadNotice, RuleName, RuleText } from "@roster/domain"
import type { RuleHandlers } from "@roster/workflows/PageServer"
import { Effect, type FileSystem, type Path, Redacted, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { usageError } from "../../errors/UsageError.ts"
import { studioFolder } from "../../files/StudioFolder.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { removeFromFile, rulesInFile, saveInFile } from "../../settings/RulesInFile.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import { flagsHere } from "../../terminal/ResumeHint.ts"
import { Signals } from "../../terminal/Signals.ts"
import { version } from "../../terminal/Version.ts"
import { portFlag, withExamples } from "../shared/CommonFlags.ts"
import { openBrowser } from "./Browser.ts"

const decodeName = Schema.decodeUnknownEffect(RuleName)

/** The saved rules of the user, for the page of a service that keeps none. */
const rulesOfUser = Effect.map(Effect.context<FileSystem.FileSystem | Path.Path>(), (files): RuleHandlers => {
  const told = <A, E extends { readonly message: string }>(
    effect: Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
  ) => Effect.mapError(Effect.provideContext(effect, files), ({ message }) => message)
  return {
    rules: told(rulesInFile),
    saveRule: ({ name, rule }) =>
      told(Effect.zipWith(decodeName(name), RuleText.fromText(rule), saveInFile).pipe(Effect.flatten, Effect.asVoid)),
    removeRule: ({ name }) => told(Effect.asVoid(removeFromFile(name)))
  }
})

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
    const { servePage } = yield* Effect.promise(() => import("@roster/workflows/PageServer"))
    const studio = StudioServer.layer({
      page: { folder },
      port,
      target: { name, identity, isStore, version, flags: yield* flagsHere, protectedBy },
      service: { baseUrl, key },
      client,
      calls: yield* servePage(yield* RunLogLayer.storage, yield* rulesOfUser)
    })
    const untilStopped = Effect.gen(function* () {
      const { addressToOpen } = yield* StudioServer.StudioServer
      const stopped = yield* (yield* Signals).expect
      const address = Redacted.value(addressToOpen)
      yield* output.note(
        `roster ${version} shows ${name} to this machine alone. Anyone who has the address may do all that you may; Ctrl-C ends it.`
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
