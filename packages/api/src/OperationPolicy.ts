/** What the server, the client and the documentation have to know of an operation, as one annotation of its endpoint. */
import { type AccessLevel, type Purpose } from "@roster/domain"
import { accessOf } from "@roster/domain/internal"
import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** What may be retried. A request that was not sent always may, if its body can be sent again. */
export interface RetryRow {
  /** `throttled`: only if the service asks to slow down, by 429 or 503 with Retry-After. */
  readonly notProcessed: "always" | "throttled"
  /** `keyed`: only if the service is known to honour the Idempotency-Key of the call. */
  readonly ambiguous: "always" | "keyed" | "never"
  /** How to recover after an ambiguous failure; none for reads. `{name}` is the subject of the call. */
  readonly recovery?: string
}

export const always = (recovery: string): RetryRow => ({ notProcessed: "always", ambiguous: "always", recovery })

/** A read changes nothing, so there is nothing to recover from. */
export const reads: RetryRow = { notProcessed: "always", ambiguous: "always" }

export const deletes = always("Delete it again: what is already deleted is not an error.")

export const keyed = (recovery: string): RetryRow => ({ notProcessed: "always", ambiguous: "keyed", recovery })

export const never = (recovery: string): RetryRow => ({ notProcessed: "always", ambiguous: "never", recovery })

export const secret: RetryRow = {
  notProcessed: "throttled",
  ambiguous: "keyed",
  recovery:
    "Load {name} by name: if it is there and nobody else made it, its token is lost, so delete it and create it again."
}

/**
 * The retries of an operation whose endpoint names none. A POST that names none is not repeated when its outcome is
 * unknown.
 */
const retriesByMethod: Readonly<Record<string, RetryRow>> = {
  GET: reads,
  PUT: always("Repeat the update."),
  DELETE: deletes
}

/** The retries of an operation. */
export const retriesOf = (method: string, { retries }: Policy): RetryRow =>
  retries ?? retriesByMethod[method] ?? never("Find out whether it was done before you repeat it.")

/** A header, in lower case, by which a service of ours states on every answer what it honours or knows. */
export interface Announcement {
  /** The name of the header, in lower case. */
  readonly name: string
  /** Its value. */
  readonly value: string
}

/** What an endpoint says of its operation. */
export interface Policy {
  /** From the purpose of a key follows the access level that it needs; `anyKey` needs none. */
  readonly purpose: Purpose | "anyKey"
  /** What may be retried (default: all of it, but no POST whose outcome is unknown). */
  readonly retries?: RetryRow
  /** The headers that the operation honours besides those of every request. */
  readonly headers?: ReadonlyArray<string>
  /** Whether its answer holds a secret, so that no service may keep it (default: false). */
  readonly answersSecret?: boolean
  /** The word that announces the operation, if only Roster has it and no other service of the interface. */
  readonly announcedBy?: Announcement
}

/** The access level that an operation needs: every valid key has None. */
export const levelOf = ({ purpose }: Policy): AccessLevel => (purpose === "anyKey" ? "None" : accessOf(purpose))

/** The annotation of an endpoint with its policy. */
export class OperationPolicy extends Context.Service<OperationPolicy, Policy>()("@roster/api/OperationPolicy") {}

/** Annotates an endpoint with the purpose that a key needs, its summary in the documentation, and the rest of its policy. */
export const needs = (
  purpose: Policy["purpose"],
  summary: string,
  policy: Omit<Policy, "purpose"> = {}
): Context.Context<OperationPolicy> =>
  Context.add(OpenApi.annotations({ summary }), OperationPolicy, { purpose, ...policy })
