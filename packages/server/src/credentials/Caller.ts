/** The caller, passed in the context (default: the owner of the store); over a socket the API key decides. */
import type { AccessLevel } from "@roster/domain"
import { Context } from "effect"

/** An API key that was accepted, as the store holds it. */
export interface CallerKey {
  /** The id of its row: its name may change during the call. */
  readonly id: number
  /** The name of the key. */
  readonly name: string
  /** The beginning and the end of its secret. */
  readonly hint: string
  /** The level for which it was accepted, which each write asks for again (default: `None`, which every key has). */
  readonly level?: AccessLevel | undefined
  /** Whether it may view contacts (default: false). */
  readonly mayViewContacts?: boolean | undefined
}

/** Who calls a service, and for which account. */
export interface CallerIdentity {
  /** The account whose data the call uses: empty for the main one, the canonical e-mail address for a subaccount. */
  readonly account: string
  /** The key that authenticated it; `undefined` for the owner, who may do everything. */
  readonly key?: CallerKey | undefined
  /** The IP address that it calls from; `undefined` within the process. */
  readonly peer?: string | undefined
  /** Gives the base address under which it called the service, for links to files; `undefined` within the process. */
  readonly serviceUrl?: (() => string) | undefined
}

/** Whether a caller may view contacts. */
export const mayViewContacts = ({ key }: CallerIdentity): boolean => key === undefined || key.mayViewContacts === true

/** The owner of the store: the main account, without a limit. */
export const owner: CallerIdentity = { account: "" }

/**
 * The caller of the services in the current fiber (default: the owner of the store). A reference, since the services have the
 * same methods on every layer and most have no caller.
 */
export const Caller = Context.Reference<CallerIdentity>("@roster/server/Caller", { defaultValue: () => owner })
