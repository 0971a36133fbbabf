/**
 * What an embedded service is told: where its data lies and what it may do beside keeping it.
 */
import { Context } from "effect"

export interface StoreOptions {
  /** The database file, made where it is not there; `:memory:` keeps nothing. */
  readonly filename: string
  /** Who mail may come from: addresses, or `*@example.com` for a domain. Nobody where it is not given. */
  readonly allowedSenders?: ReadonlyArray<string> | undefined
  /** The hosts that files may be imported from by address, or `any` for all public ones. None where it is not given. */
  readonly allowFileUrl?: ReadonlyArray<string> | undefined
  /**
   * The file that a thread of its own for imports and exports begins with. Without one they are worked on where requests
   * are answered; `RosterServer` has one, but where it was bundled with a program into one file. Such a program names that
   * file, and calls `work` of `@roster/server/JobWorker` with its `workerData` in place of all else when it runs on such a
   * thread.
   */
  readonly jobThread?: URL | undefined
}

/** The part of the options that the services work by. */
export class StorePolicy extends Context.Service<
  StorePolicy,
  { readonly allowedSenders: ReadonlyArray<string>; readonly allowFileUrl: ReadonlyArray<string> }
>()("@roster/server/StorePolicy") {}
