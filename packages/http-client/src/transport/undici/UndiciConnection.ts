/**
 * A connection of undici that knows which request it connects for, so that giving up the request gives up connecting.
 */
import { Socket } from "node:net"
import { type buildConnector, Client, type Dispatcher, errors } from "undici"
import { type Link, UndiciExchange } from "./UndiciExchange.ts"
import { UndiciInterim } from "./UndiciInterim.ts"

/** How connecting is bounded. */
export interface Connecting {
  /** How long it may take, in milliseconds. The timer of undici is late by up to a second. */
  readonly timeout: number
  /** What is connecting at the moment: undici leaves that open when it is destroyed. */
  readonly open: Set<(reason: Error) => void>
}

export class UndiciConnection extends Client {
  readonly #link: ConnectionLink

  constructor(
    origin: URL,
    options: Client.Options & { readonly connect: buildConnector.connector },
    connecting: Connecting
  ) {
    const link = new ConnectionLink(options.connect, connecting)
    super(origin, { ...options, connect: (target, callback) => link.connect(target, callback) })
    this.#link = link
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // Given up while it waited in the queue of the pool: as good as done, and the connection is free for the next.
    if (handler instanceof UndiciExchange && !this.#link.assign(handler)) return true
    return super.dispatch(options, handler)
  }
}

class ConnectionLink implements Link {
  readonly #connector: buildConnector.connector
  readonly #connecting: Connecting
  readonly #interim = new UndiciInterim()
  #exchange: UndiciExchange | undefined
  #giveUp: ((reason: Error) => void) | undefined

  constructor(connector: buildConnector.connector, connecting: Connecting) {
    this.#connector = connector
    this.#connecting = connecting
  }

  assign(exchange: UndiciExchange): boolean {
    if (!exchange.assign(this)) return false
    this.#exchange = exchange
    return true
  }

  release(exchange: UndiciExchange): void {
    if (this.#exchange === exchange) this.#exchange = undefined
  }

  abort(reason: Error): void {
    this.#giveUp?.(reason)
  }

  expectHead(): void {
    this.#interim.expectHead()
  }

  connect(target: buildConnector.Options, callback: buildConnector.Callback): void {
    const aborted = this.#exchange?.aborted
    if (aborted !== undefined) return callback(aborted, null)
    const controller = new AbortController()
    let opening: unknown
    let settled = false
    // undici calls back with the error alone, whatever its types say.
    const settle = (error: Error | null, socket?: Socket | null) => {
      if (settled) return void socket?.destroy()
      settled = true
      this.#giveUp = undefined
      clearTimeout(timer)
      this.#connecting.open.delete(giveUp)
      if (error !== null || socket == null) return callback(error ?? new Error("There is no connection."), null)
      this.#ignoreInterim(socket)
      callback(null, socket)
    }
    const giveUp = (reason: Error) => {
      // A socket tells by its error; a tunnel through a proxy takes the signal, and closes when it comes about too late.
      if (opening instanceof Socket) opening.destroy(reason)
      controller.abort(reason)
      settle(reason)
    }
    this.#giveUp = giveUp
    this.#connecting.open.add(giveUp)
    const { timeout } = this.#connecting
    const timer = setTimeout(
      () => giveUp(new errors.ConnectTimeoutError(`No connection within ${timeout} ms.`)),
      timeout
    )
    // The types say that a connector returns nothing; the one of undici returns the socket that it opens.
    const withSignal = { ...target, signal: controller.signal }
    opening = this.#connector(withSignal, settle)
  }

  #ignoreInterim(socket: Socket): void {
    const read = socket.read.bind(socket)
    socket.read = (size) => {
      const bytes: unknown = read(size)
      if (bytes instanceof Uint8Array) this.#interim.rewrite(bytes)
      return bytes
    }
  }
}
