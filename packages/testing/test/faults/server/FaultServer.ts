/**
 * A server on raw sockets that plays a script and records what arrives. It listens on any free port of the loopback
 * address, and its scope closes it.
 */
import { Deferred, Effect, FiberSet, type Scope } from "effect"
import { createServer, type Server, type Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { FaultLedgerBook, type FaultLedger, type LedgerRequest } from "./FaultLedger.ts"
import { answerBytes, type Script, Step } from "./FaultScript.ts"
import { bodyReader, byteReader, readRequestHead } from "./RequestReader.ts"

/** The behaviour of a server. */
export interface FaultPlan {
  /**
   * Played when a connection opens, before anything is read, TLS included, by the number of the connection. A
   * connection without one, or whose script leaves it open, proceeds to its requests.
   */
  readonly connections?: ReadonlyArray<Script> | undefined
  /** Played once the head of a request has arrived, chosen by its number (the last one repeats) or by the head. */
  readonly requests?: ReadonlyArray<Script> | ((request: LedgerRequest) => Script) | undefined
  /** The certificate for TLS. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined
}

/** A running faulty server: its addresses and its ledger. */
export interface FaultServer {
  readonly port: number
  /** The scheme, the loopback address and the port. */
  readonly origin: string
  /** The base address of a service there. */
  readonly baseUrl: string
  readonly ledger: FaultLedger
}

const listen = (server: Server, port: number) =>
  Effect.callback<number>((resume) => {
    server.once("error", (error) => resume(Effect.die(error)))
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resume(
        typeof address === "object" && address !== null
          ? Effect.succeed(address.port)
          : Effect.die(new Error("the server has no port"))
      )
    })
  })

/** Starts the server. */
export const faultServer = Effect.fnUntraced(function* (
  plan: FaultPlan,
  options?: { readonly port?: number | undefined }
): Effect.fn.Return<FaultServer, never, Scope.Scope> {
  const ledger = new FaultLedgerBook()
  const sockets = new Set<Socket>()
  const run = yield* FiberSet.makeRuntime()
  const server = createServer({ allowHalfOpen: false })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    run(serve(plan, ledger, socket))
  })
  yield* Effect.acquireRelease(Effect.void, () =>
    Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      for (const socket of sockets) socket.destroy()
    })
  )
  const port = yield* listen(server, options?.port ?? 0)
  const origin = `${plan.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`
  return { port, origin, baseUrl: `${origin}/v4`, ledger }
})

/** A connection while a script is played on it. */
interface Line {
  readonly socket: Socket
  readonly reset: Effect.Effect<void>
  readonly finish: Effect.Effect<void>
}

const serve = Effect.fnUntraced(function* (plan: FaultPlan, ledger: FaultLedgerBook, raw: Socket) {
  const connection = ledger.opened()
  let endedBy: "client" | "server" | undefined
  const gone = yield* Deferred.make<void>()
  raw.on("error", () => {
    endedBy ??= "client"
  })
  raw.once("end", () => {
    endedBy ??= "client"
  })
  raw.once("close", () => {
    connection.closed(endedBy ?? "server")
    Deferred.doneUnsafe(gone, Effect.void)
  })
  const end = (how: () => void) =>
    Effect.sync(() => {
      endedBy ??= "server"
      how()
    }).pipe(Effect.andThen(Deferred.await(gone)))
  const lineOf = (socket: Socket): Line => ({
    socket,
    reset: end(() => raw.resetAndDestroy()),
    // Further input is read, so that the client sees a FIN rather than a reset.
    finish: end(() => socket.end())
  })
  const conversation = Effect.gen(function* () {
    const first = plan.connections?.[connection.number]
    if (first !== undefined) yield* play(first, lineOf(raw), requestsOf(lineOf(raw), ledger, connection.number))
    const socket = plan.tls === undefined ? raw : new TLSSocket(raw, { isServer: true, ...plan.tls })
    if (socket !== raw) socket.on("error", () => {})
    const line = lineOf(socket)
    const requests = requestsOf(line, ledger, connection.number)
    for (;;) {
      const request = yield* requests.next
      if (request === undefined) return
      yield* play(scriptFor(plan, request), line, requests)
    }
  })
  yield* Effect.raceFirst(conversation, Deferred.await(gone))
  yield* Effect.sync(() => {
    endedBy ??= "client"
    raw.destroy()
  })
})

const scriptFor = ({ requests = [] }: FaultPlan, request: LedgerRequest): Script =>
  typeof requests === "function" ? requests(request) : (requests[request.number] ?? requests.at(-1) ?? [Step.Stall()])

/** The requests of a connection, one after the other. */
const requestsOf = (line: Line, ledger: FaultLedgerBook, connection: number) => {
  const reader = byteReader(line.socket)
  let current:
    | { readonly entry: ReturnType<FaultLedgerBook["arrived"]>; readonly body: ReturnType<typeof bodyReader> }
    | undefined

  const readBody = Effect.fnUntraced(function* (bytes: number) {
    if (current === undefined) return
    const { body, entry } = current
    let left = bytes
    while (left > 0 && !body.isWhole()) {
      const part = yield* body.take(left)
      if (part === undefined) return
      left -= part.length
      entry.read(part)
    }
    if (body.isWhole() && !entry.request.complete) entry.completed()
  })

  const next = Effect.gen(function* () {
    yield* readBody(Infinity)
    current = undefined
    const head = yield* readRequestHead(reader)
    if (head === undefined) return undefined
    current = { entry: ledger.arrived({ ...head, connection }), body: bodyReader(reader, head.headers) }
    if (current.body.isWhole()) current.entry.completed()
    return current.entry.request
  })

  return {
    next,
    /** Reads the next head unless it was read already. */
    head: Effect.suspend(() => (current === undefined ? next : Effect.void)),
    readBody,
    discard: Effect.gen(function* () {
      yield* readBody(Infinity)
      while ((yield* reader.take(65_536)).length > 0);
    })
  }
}

const writeTo = (socket: Socket, bytes: Uint8Array) =>
  Effect.callback<void>((resume) => {
    // A client that disconnected ends the connection, which is handled elsewhere.
    if (socket.destroyed || socket.writableEnded) return resume(Effect.never)
    socket.write(bytes, (error) => resume(error === null || error === undefined ? Effect.void : Effect.never))
  })

const play = Effect.fnUntraced(function* (script: Script, line: Line, requests: ReturnType<typeof requestsOf>) {
  const { socket } = line
  for (const step of script) {
    if (step._tag === "Next") return
    yield* Step.$match(step, {
      ReadHead: () => requests.head,
      ReadBody: ({ bytes }) => requests.readBody(bytes === "all" ? Infinity : bytes),
      Write: ({ bytes }) => writeTo(socket, bytes),
      Drip: ({ bytes, every, size }) => dripTo(socket, bytes, Effect.sleep(every), size),
      Flood: ({ bytes, times }) => floodTo(socket, bytes, times),
      Respond: ({ answer }) => requests.readBody(Infinity).pipe(Effect.andThen(writeTo(socket, answerBytes(answer)))),
      WaitFor: ({ gate }) => gate,
      Reset: () => line.reset,
      Finish: () => Effect.raceFirst(line.finish, Effect.andThen(requests.discard, Effect.never)),
      Stall: () => Effect.andThen(requests.discard, Effect.never),
      Next: () => Effect.void
    })
  }
})

const dripTo = Effect.fnUntraced(function* (
  socket: Socket,
  bytes: Uint8Array,
  pause: Effect.Effect<void>,
  size: number
) {
  for (let at = 0; at < bytes.length; at += size) {
    yield* pause
    yield* writeTo(socket, bytes.subarray(at, at + size))
  }
})

const floodTo = Effect.fnUntraced(function* (socket: Socket, bytes: Uint8Array, times: number) {
  for (let made = 0; made < times; made++) yield* writeTo(socket, bytes)
})
