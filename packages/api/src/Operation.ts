/** The operations as data, for the documentation, the server's access check and the client's policies. */
import type { AccessLevel } from "@roster/domain"
import { Context } from "effect"
import { RequiredAccess } from "./ApiKeyAuth.ts"
import { type Purpose, purposeOf } from "./Purpose.ts"
import { RosterApi } from "./RosterApi.ts"

/** An operation of the interface. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly requiredAccess: AccessLevel
}

/** All operations by their identifier, read from the contract. */
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

/** The access levels that a key needs for these purposes, and no others. */
export const accessFor = (wanted: Iterable<Purpose>): ReadonlyArray<AccessLevel> => {
  const purposes = new Set(wanted)
  const levels = new Set<AccessLevel>()
  for (const { id, requiredAccess } of operations.values()) {
    const purpose = purposeOf(id)
    if (purpose !== undefined && purposes.has(purpose)) levels.add(requiredAccess)
  }
  return [...levels]
}
