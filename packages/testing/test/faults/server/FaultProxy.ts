/**
 * A proxy of TCP connections in front of a service, which may end and come back on another port. It breaks connections
 * and delays what they carry, now and then.
 */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

export interface FaultProxy {
  /** The port of the proxy, which stays the same. */
  readonly port: number
  /** Listens, and leads further connections to some ports of this machine in turn. */
  readonly leadTo: (...ports: ReadonlyArray<number>) => Effect.Effect<void>
  /** Breaks all connections and refuses further ones. */
  readonly refuse: Effect.Effect<void>
  /** How many faults there were so far. */
  readonly faults: () => number
}

const host = "127.0.0.1"

/** In milliseconds. */
const longestDelay = 50

/** Makes a proxy that does harm to a piece of data with the given probability. The scope ends it. */
export const faultProxy = Effect.fnUntraced(function* (options: {
  readonly random: () => number
  readonly rate: number
}) {
  const { random, rate } = options
  const open = new Set<Socket>()
  let targets: ReadonlyArray<number> = []
  let connections = 0
  let count = 0

  /** Passes on what arrives, whole, late, in part or not at all. */
  const forward = (from: Socket, to: Socket) => {
    const breakOff = () => {
      from.resetAndDestroy()
      to.resetAndDestroy()
    }
    from.on("data", (piece: Buffer) => {
      const fault = random() < rate ? Math.floor(random() * 3) : undefined
      if (fault !== undefined) count++
      if (fault === 0) return breakOff()
      if (fault === 1) {
        to.write(piece.subarray(0, Math.floor(random() * piece.length)), breakOff)
        return from.pause()
      }
      if (fault === 2) {
        from.pause()
        setTimeout(() => from.resume(), random() * longestDelay)
      }
      if (!to.write(piece)) {
        from.pause()
        to.once("drain", () => from.resume())
      }
      return undefined
    })
    from.on("end", () => to.end())
    from.on("error", () => to.destroy())
    from.on("close", () => {
      open.delete(from)
      to.destroy()
    })
    open.add(from)
  }

  const server = createServer((client) => {
    const upstream = connect(targets[connections++ % targets.length] ?? 0, host)
    forward(client, upstream)
    forward(upstream, client)
  })
  const listen = (port: number) =>
    Effect.callback<number>((resume) => {
      server.listen(port, host, () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    })
  const refuse = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const socket of open) socket.resetAndDestroy()
  })
  const port = yield* listen(0)
  yield* Effect.addFinalizer(() => refuse)
  const proxy: FaultProxy = {
    port,
    leadTo: (...ports) =>
      Effect.suspend(() => {
        targets = ports
        return server.listening ? Effect.void : Effect.asVoid(listen(port))
      }),
    refuse,
    faults: () => count
  }
  return proxy
})
