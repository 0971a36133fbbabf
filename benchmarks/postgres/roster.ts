/** The service on PostgreSQL, as `roster serve` runs it. */
import { RosterServer } from "@roster/server"
import { Context, Effect, Layer, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { argument, listening } from "../src/Trial.ts"

setFlagsFromString("--no-allocation-site-pretenuring")

const serving = Effect.gen(function* () {
  const services = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      store: { postgres: { url: Redacted.make(argument("database")) } },
      onAdministratorKey: (key) => Effect.sync(() => writeFileSync(`${argument("store")}.key`, Redacted.value(key)))
    })
  )
  const { address } = Context.get(services, RosterServer.RosterServer)
  listening(Number(new URL(address).port))
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(serving))
