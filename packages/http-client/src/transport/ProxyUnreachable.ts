/** The error of a transport that cannot reach its proxy. */
import { Predicate } from "effect"

/** A proxy could not be reached. The code and the system call are those of the system error that it was. */
export class ProxyUnreachable extends Error {
  readonly code: unknown
  readonly syscall: unknown
  /** Host and port of the proxy. */
  readonly proxy: string
  constructor(proxy: string, cause: Error) {
    super(`The proxy ${proxy} cannot be reached.`, { cause })
    this.proxy = proxy
    this.code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
    this.syscall = Predicate.hasProperty(cause, "syscall") ? cause.syscall : undefined
  }
}
