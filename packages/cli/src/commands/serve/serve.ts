/**
 * `roster serve`
 */
import { IpRange } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { text, texts } from "../shared/CommonFlags.ts"
import { layer, Listening } from "./Listening.ts"
import { Output } from "../../terminal/Output.ts"
import { isThisMachine } from "../setup/Reachability.ts"
import { Signals } from "../../terminal/Signals.ts"
import { parseWith } from "../../errors/UsageError.ts"

export const command = Command.make(
  "serve",
  {
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
    trustedProxies: Flag.String("trusted-proxy").pipe(
      Flag.mapEffect(parseWith(IpRange, "trusted-proxy")),
      Flag.withMetavar("CIDR"),
      Flag.withDescription("A proxy in front, whose X-Forwarded-For says where a request comes from (repeatable)"),
      Flag.atLeast(0)
    )
  },
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
