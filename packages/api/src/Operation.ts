/** The operations as data, for the documentation, the server's access check and the client's policies. */
import type { AccessLevel, Purpose } from "@roster/domain"
import { Context } from "effect"
import { type Announcement, levelOf, OperationPolicy, retriesOf, type RetryRow } from "./OperationPolicy.ts"
import { RosterApi } from "./RosterApi.ts"

/** An operation of the interface. */
export interface Operation {
  /** The operation identifier, such as `contactsByEmailGet`. */
  readonly id: string
  /** The HTTP method. */
  readonly method: string
  /** The path below the base address, with its parameters as `:name`. */
  readonly path: string
  /** The purpose that a key needs for it; `undefined` if any key will do. */
  readonly purpose: Purpose | undefined
  /** The access level that a key needs for it. */
  readonly requiredAccess: AccessLevel
  /** Whether and when a client repeats it. */
  readonly retries: RetryRow
  /** The headers that it honours besides those of every request. */
  readonly headers: ReadonlyArray<string>
  /** The word that announces it, if only Roster has it and no other service of the interface. */
  readonly announcedBy: Announcement | undefined
}

/** All operations by their identifier, read from the contract. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.values(RosterApi.groups).flatMap(({ endpoints }) =>
    Object.values(endpoints).map(({ annotations, identifier: id, method, path }) => {
      const policy = Context.getUnsafe(annotations, OperationPolicy)
      const { announcedBy, headers = [], purpose } = policy
      const requiredAccess = levelOf(policy)
      const operation: Operation = {
        id,
        method,
        path,
        purpose: purpose === "anyKey" ? undefined : purpose,
        requiredAccess,
        retries: retriesOf(method, policy),
        headers,
        announcedBy
      }
      return [id, operation]
    })
  )
)
