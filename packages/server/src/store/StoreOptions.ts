import { Context } from "effect"

/** The options of an embedded service: where its data is, and what it may do. */
export interface StoreOptions {
  /** The database file, created if missing, or `:memory:`. */
  readonly filename: string
  /** The addresses that mail may come from, or `*@example.com` for a domain (default: none). */
  readonly allowedSenders?: ReadonlyArray<string> | undefined
  /** The hosts that files may be imported from by URL, or `any` for all public ones (default: none). */
  readonly allowFileUrl?: ReadonlyArray<string> | undefined
  /**
   * The entry file of the thread for jobs; without one they run where requests are answered. `RosterServer` has one
   * unless it was bundled: then name the bundle here, and run only `work` of `@roster/server/WorkerThread` on worker
   * threads.
   */
  readonly jobThread?: URL | undefined
}

/** The part of the options that the services need. */
export class StorePolicy extends Context.Service<
  StorePolicy,
  { readonly allowedSenders: ReadonlyArray<string>; readonly allowFileUrl: ReadonlyArray<string> }
>()("@roster/server/StorePolicy") {}
