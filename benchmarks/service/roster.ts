/** The service as `roster serve` runs it. */
import { RosterServer } from "@roster/server"
import { Context, Effect, Layer, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { relaunchWithMemoryLimits } from "../../packages/cli/src/main/MemoryLimits.ts"
import { argument, listening } from "../src/Trial.ts"

relaunchWithMemoryLimits()
setFlagsFromString("--no-allocation-site-pretenuring")
const filename = argument("store")

const serving = Effect.gen(function* () {
  const services = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      store: { filename },
      onAdministratorKey: (key) => Effect.sync(() => writeFileSync(`${filename}.key`, Redacted.value(key)))
    })
  )
  const { address } = Context.get(services, RosterServer.RosterServer)
  listening(Number(new URL(address).port))
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(serving))
