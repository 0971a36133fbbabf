/** A proxy between a client and a service that breaks connections at random, before, within and after the answer. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** The chance of each fault, per piece of data that passes. */
export interface ProxyFaults {
  /** A connection is reset as it opens. */
  readonly refused: number
  /** A connection is reset once a request was passed on: the service may carry it out. */
  readonly answerLost: number
  /** A connection is reset after a part of an answer. */
  readonly answerCut: number
}

export interface FaultProxy {
  readonly port: number
  /** Sets the port that connections lead to; those to the one before are reset. */
  readonly leadTo: (port: number) => void
  /** The number of faults so far. */
  readonly faults: () => number
}

/** Starts the proxy on any free port of the loopback address; its scope closes it. */
export const faultProxy = Effect.fnUntraced(function* (random: () => number, chances: ProxyFaults) {
  let target: number | undefined
  let faults = 0
  const sockets = new Set<Socket>()
  const resetAll = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const server = createServer((client) => {
    const track = (socket: Socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      socket.on("error", () => {})
    }
    track(client)
    if (target === undefined || random() < chances.refused) {
      faults++
      client.resetAndDestroy()
      return
    }
    const service = connect(target, "127.0.0.1")
    track(service)
    const breakOff = () => {
      faults++
      client.resetAndDestroy()
      service.end()
    }
    client.on("data", (data) => {
      service.write(data)
      if (random() < chances.answerLost) breakOff()
    })
    service.on("data", (data: Buffer) => {
      if (client.destroyed) return
      if (random() >= chances.answerCut) return void client.write(data)
      client.write(data.subarray(0, data.length / 2), breakOff)
    })
    client.once("close", () => service.end())
    service.once("close", () => client.resetAndDestroy())
  })
  yield* Effect.acquireRelease(Effect.void, () =>
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      resetAll()
    })
  )
  const port = yield* Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(
        typeof address === "object" && address !== null
          ? Effect.succeed(address.port)
          : Effect.die(new Error("the proxy has no port"))
      )
    })
  })
  const proxy: FaultProxy = {
    port,
    leadTo: (port) => {
      target = port
      resetAll()
    },
    faults: () => faults
  }
  return proxy
})
