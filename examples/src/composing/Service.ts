import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RosterServer } from "@roster/server"
import { Console, Effect, FileSystem, Layer, Redacted } from "effect"

const service = RosterServer.layer({
  port: 4010,
  store: { filename: "contacts.db" },
  publicUrl: new URL("https://contacts.example.com"),
  metrics: { port: 9464 },
  onAccess: ({ duration, route, status }) => Console.log(`${status} ${route} ${duration} ms`),
  // The only time that the key is seen. If it cannot be written, no key is created and nothing is served.
  onAdministratorKey: Effect.fnUntraced(function* (key) {
    const files = yield* FileSystem.FileSystem
    yield* files.writeFileString("admin.key", `${Redacted.value(key)}\n`, { flag: "wx", mode: 0o600 })
  })
})

// Ctrl-C and SIGTERM end it: requests in progress are answered first.
NodeRuntime.runMain(Layer.launch(service).pipe(Effect.provide(NodeServices.layer)))
