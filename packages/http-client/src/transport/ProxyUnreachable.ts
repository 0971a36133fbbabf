/** The error of a transport that cannot reach its proxy. */
import { Predicate } from "effect"

/**
 * A proxy could not be reached, or opened no tunnel. The code and the system call are those of the system error that it
 * was.
 */
export class ProxyUnreachable extends Error {
  readonly code: unknown
  readonly syscall: unknown
  /** Host and port of the proxy. */
  readonly proxy: string
  /** The status of its answer, if it refused. */
  readonly status: number | undefined
  constructor(proxy: string, cause: Error, status?: number) {
    super(`The proxy ${proxy} cannot be reached.`, { cause })
    this.proxy = proxy
    this.status = status
    this.code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
    this.syscall = Predicate.hasProperty(cause, "syscall") ? cause.syscall : undefined
  }
}
