/**
 * The operations as data: what the documentation, the server's access check and the client's policies are written by.
 */
import type { AccessLevel } from "@roster/domain"
import { Context } from "effect"
import { RequiredAccess } from "./ApiKeyAuth.ts"
import { RosterApi } from "./RosterApi.ts"

type Groups = (typeof RosterApi)["groups"]

/** The identifier of an operation. */
export type OperationId = { [G in keyof Groups]: keyof Groups[G]["endpoints"] }[keyof Groups] & string

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly requiredAccess: AccessLevel
}

/** All operations, read from the contract. */
export const operations: ReadonlyMap<string, Operation> = (() => {
  const found = new Map<string, Operation>()
  for (const group of Object.values(RosterApi.groups)) {
    for (const endpoint of Object.values(group.endpoints)) {
      found.set(endpoint.identifier, {
        id: endpoint.identifier,
        method: endpoint.method,
        path: endpoint.path,
        requiredAccess: Context.getUnsafe(endpoint.annotations, RequiredAccess)
      })
    }
  }
  return found
})()
