/**
 * `roster serve`
 */
import { IpRange } from "@roster/domain"
import { Context, Effect, Layer, Redacted, Ref, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { usageError, parseWith } from "../../errors/UsageError.ts"
import * as KeyFile from "../../settings/KeyFile.ts"
import { environment, flags } from "../../settings/Settings.ts"
import { defaultStore } from "../../target/LocalStore.ts"
import { Output } from "../../terminal/Output.ts"
import { Signals } from "../../terminal/Signals.ts"
import { parsedEach, text, texts } from "../shared/CommonFlags.ts"
import { isThisMachine } from "../shared/Loopback.ts"

/** The running service. */
class Listening extends Context.Service<Listening, { readonly address: string }>()("@roster/cli/Listening") {}

const serveFlags = {
  port: Flag.Int("port").pipe(
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `a port from 1 to 65535, or 0 for any that is free, and not ${port}`
    ),
    Flag.withMetavar("N"),
    Flag.withDescription("The port to listen on, 4010 unless said; 0 for any that is free"),
    Flag.withDefault(4010)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("The address to listen on, 127.0.0.1 unless said"),
    Flag.withDefault("127.0.0.1")
  ),
  keyFile: text("key-file", "Where the administrator key of a new store goes; standard output unless said", "FILE"),
  allowedSenders: texts("allow-sender", "Who mail may come from: an address, or '*@example.com'", "PATTERN"),
  allowFileUrl: texts("allow-file-url", "A host that files may be imported from by address, or any", "HOST|any"),
  trustedProxies: parsedEach(
    "trusted-proxy",
    parseWith(IpRange, "trusted-proxy"),
    "A proxy in front, whose X-Forwarded-For says where a request comes from",
    "CIDR"
  )
}

/** The flags that name another service are refused; the environment may name one for other commands. */
const storeFile = Effect.gen(function* () {
  const { apiKeyFile, apiKeyHeader, apiKeyPrefix, baseUrl, db } = yield* flags
  if ([baseUrl, apiKeyFile, apiKeyHeader, apiKeyPrefix].some((flag) => flag !== undefined)) {
    return yield* usageError(
      "serve is the service itself: --base-url and the --api-key flags say nothing to it.",
      "Name its store with --db and its address with --host and --port."
    )
  }
  return db ?? (yield* Effect.orDie(environment)).db ?? (yield* defaultStore)
})

/** Writes the key of a new store to a file, or as a line of output before the line that says the service listens. */
const handOver = (keyFile: string | undefined) =>
  Effect.fnUntraced(function* (key: Redacted.Redacted<string>) {
    if (keyFile !== undefined) return yield* KeyFile.write(keyFile, key)
    const output = yield* Output
    yield* output.note("The next line is the administrator key of this new store. It is shown this once.")
    yield* output.write(Stream.make(`${Redacted.value(key)}\n`))
  })

const keysAreThere = (keyFile: string, store: string): string =>
  `This store has API keys already, so nothing was written to ${keyFile}. Another key is made by: roster apikeys create NAME --access LEVEL --db ${store}`

const layer = ({
  allowedSenders,
  allowFileUrl,
  host,
  keyFile,
  port,
  trustedProxies
}: Command.Command.Config.Infer<typeof serveFlags>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const filename = yield* storeFile
      const isNew = yield* Ref.make(false)
      const { RosterServer } = yield* Effect.promise(() => import("@roster/server"))
      const server = RosterServer.layer({
        host,
        port,
        store: { filename, allowedSenders, allowFileUrl },
        trustedProxies,
        onAdministratorKey: (key) => Effect.andThen(handOver(keyFile)(key), Ref.set(isNew, true))
      })
      const listening = Effect.gen(function* () {
        const service = yield* RosterServer.RosterServer
        if (keyFile !== undefined && !(yield* Ref.get(isNew)))
          yield* (yield* Output).note(keysAreThere(keyFile, filename))
        return service
      })
      return Layer.provide(Layer.effect(Listening, listening), server)
    })
  )

export const command = Command.make(
  "serve",
  serveFlags,
  Effect.fnUntraced(function* ({ host }) {
    const output = yield* Output
    const { address } = yield* Listening
    const stopped = yield* (yield* Signals).expect
    if (!isThisMachine(host)) {
      yield* output.note(
        `warning: ${host} can be reached from other machines, and requests and keys travel unencrypted. Put a proxy with TLS in front.`
      )
    }
    yield* output.write(Stream.make(`listening on ${address}\n`))
    yield* stopped
  })
).pipe(
  Command.withExamples([
    {
      command: "roster serve --port 4010 --db roster.db --key-file admin.key",
      description: "A new store writes its administrator key to admin.key"
    },
    { command: "roster serve --db roster.db --allow-sender '*@example.com'", description: "Take mail from a domain" }
  ]),
  Command.provide(layer)
)
