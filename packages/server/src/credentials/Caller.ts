/**
 * Who calls: it reaches the services through the context, so that their methods need nothing. The default is the owner of
 * the store, as whoever can open its file is; over a socket the API key decides.
 */
import { Context } from "effect"

/** A key that was found good, as the store holds it. */
export interface CallerKey {
  /** The row of the key: its name may change while it calls. */
  readonly id: number
  readonly name: string
  /** How its secret begins and ends. */
  readonly hint: string
}

export interface CallerIdentity {
  /** The account whose data is meant: empty for the main one, the identity of its e-mail for a subaccount. */
  readonly account: string
  /** The key that it proved itself with; `undefined` for the owner, who may do everything. */
  readonly key?: CallerKey | undefined
  /** The address that it calls from; `undefined` within the process. */
  readonly peer?: string | undefined
}

/** The main account, without a limit. */
export const owner: CallerIdentity = { account: "" }

export const Caller = Context.Reference<CallerIdentity>("@roster/server/Caller", { defaultValue: () => owner })

/** The address under which the service is called, for links to files. */
export const PublicAddress = Context.Reference<string>("@roster/server/PublicAddress", {
  defaultValue: () => "http://roster.embedded/v4"
})
