/**
 * What arrived at a faulty server: every connection and every request, as far as it was received. It checks each claim
 * of a client.
 */
import { Duration, Effect } from "effect"

/** A connection as the server saw it. */
export interface LedgerConnection {
  /** The index in the order of acceptance, from 0. */
  readonly number: number
  /** Milliseconds of the process clock. */
  readonly openedAt: number
  readonly closedAt?: number
  /** Which side ended it first, by FIN or RST. */
  readonly closedBy?: "client" | "server"
}

/** A request as far as it was received. */
export interface LedgerRequest {
  /** The index in the order of arrival of the heads, from 0. */
  readonly number: number
  readonly connection: number
  readonly method: string
  /** The target as it was sent, with its query. */
  readonly target: string
  /** The target without its query. */
  readonly path: string
  /** By lower-case name; several values of one name are joined by commas. */
  readonly headers: { readonly [name: string]: string }
  /** The body that was read, without framing, up to one MiB. */
  readonly body: Uint8Array
  readonly bodyBytes: number
  /** Whether the body was read to its end. */
  readonly complete: boolean
  /** Milliseconds of the process clock. */
  readonly arrivedAt: number
}

/** The connections and requests that a faulty server received. */
export interface FaultLedger {
  readonly connections: () => ReadonlyArray<LedgerConnection>
  readonly requests: () => ReadonlyArray<LedgerRequest>
  /** Waits until an entry makes the condition true; dies after the given time (default: 10 s). */
  readonly until: (condition: (ledger: FaultLedger) => boolean, within?: Duration.Input) => Effect.Effect<void>
}

/** Whether every connection has been closed. */
export const allClosed = (ledger: FaultLedger): boolean =>
  ledger.connections().every((connection) => connection.closedAt !== undefined)

/** The complete bodies as texts. */
export const bodyText = (request: LedgerRequest): string => new TextDecoder().decode(request.body)

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

const keptBytes = 1024 * 1024

/** The ledger as its server writes it. */
export class FaultLedgerBook implements FaultLedger {
  readonly #connections: Array<Mutable<LedgerConnection>> = []
  readonly #requests: Array<Mutable<LedgerRequest>> = []
  readonly #listeners = new Set<() => void>()

  readonly connections = (): ReadonlyArray<LedgerConnection> =>
    this.#connections.map((connection) => ({ ...connection }))

  readonly requests = (): ReadonlyArray<LedgerRequest> => this.#requests.map((request) => ({ ...request }))

  readonly until = (
    condition: (ledger: FaultLedger) => boolean,
    within: Duration.Input = "10 seconds"
  ): Effect.Effect<void> => {
    const wait = Duration.toMillis(Duration.fromInputUnsafe(within))
    return Effect.callback<void>((resume) => {
      const done = () => {
        clearTimeout(timer)
        this.#listeners.delete(look)
      }
      const look = () => {
        if (!condition(this)) return
        done()
        resume(Effect.void)
      }
      // A process timer, since it waits for a socket and the test may control the Effect clock.
      const timer = setTimeout(() => {
        done()
        const seen = JSON.stringify({
          connections: this.#connections,
          requests: this.#requests.map((request) => ({ ...request, body: undefined, headers: undefined }))
        }).slice(0, 2000)
        resume(Effect.die(new Error(`what was waited for did not happen within ${wait} ms; the ledger holds ${seen}`)))
      }, wait)
      this.#listeners.add(look)
      look()
      return Effect.sync(done)
    })
  }

  opened(): { readonly number: number; readonly closed: (by: "client" | "server") => void } {
    const entry: Mutable<LedgerConnection> = { number: this.#connections.length, openedAt: performance.now() }
    this.#connections.push(entry)
    this.#changed()
    return {
      number: entry.number,
      closed: (by) => {
        if (entry.closedAt !== undefined) return
        entry.closedAt = performance.now()
        entry.closedBy = by
        this.#changed()
      }
    }
  }

  arrived(head: Pick<LedgerRequest, "connection" | "method" | "target" | "headers">): {
    readonly request: LedgerRequest
    readonly read: (bytes: Uint8Array) => void
    readonly completed: () => void
  } {
    const entry: Mutable<LedgerRequest> = {
      ...head,
      number: this.#requests.length,
      path: head.target.split("?", 1)[0] ?? "",
      body: new Uint8Array(),
      bodyBytes: 0,
      complete: false,
      arrivedAt: performance.now()
    }
    this.#requests.push(entry)
    this.#changed()
    return {
      request: entry,
      read: (bytes) => {
        entry.bodyBytes += bytes.length
        entry.body = Buffer.concat([entry.body, bytes.subarray(0, Math.max(0, keptBytes - entry.body.length))])
        this.#changed()
      },
      completed: () => {
        entry.complete = true
        this.#changed()
      }
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
