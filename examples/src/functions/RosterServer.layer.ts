import { RosterServer } from "@roster/server"
import { Console, Effect, Redacted } from "effect"

const server = RosterServer.layer({
  port: 0,
  store: { filename: ":memory:" },
  onAdministratorKey: (key) => Console.error(`a key of ${Redacted.value(key).length} characters`)
})

export const example = RosterServer.RosterServer.use(({ address }) => Console.error(address)).pipe(
  Effect.provide(server)
)
