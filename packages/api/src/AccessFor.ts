/**
 * The access levels that purposes need, read from the operations that serve them: the table that the server decides by.
 */
import type { AccessLevel } from "@roster/domain"
import { operations } from "./Operation.ts"
import { type Purpose, purposeOf } from "./Purpose.ts"

/** The levels of a key that can do all of this and nothing else. */
export const accessFor = (wanted: Iterable<Purpose>): ReadonlyArray<AccessLevel> => {
  const purposes = new Set(wanted)
  const levels = new Set<AccessLevel>()
  for (const { id, requiredAccess } of operations.values()) {
    const purpose = purposeOf(id)
    if (purpose !== undefined && purposes.has(purpose)) levels.add(requiredAccess)
  }
  return [...levels]
}
