/** The operations as data, for the documentation, the server's access check and the client's policies. */
import type { AccessLevel } from "@roster/domain"
import { Context } from "effect"
import { RequiredAccess } from "./ApiKeyAuth.ts"
import { RosterApi } from "./RosterApi.ts"

/** An operation of the interface. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly requiredAccess: AccessLevel
}

/** All operations by their identifier, read from the contract. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.values(RosterApi.groups).flatMap(({ endpoints }) =>
    Object.values(endpoints).map(({ annotations, identifier: id, method, path }) => {
      const operation: Operation = { id, method, path, requiredAccess: Context.getUnsafe(annotations, RequiredAccess) }
      return [id, operation]
    })
  )
)
