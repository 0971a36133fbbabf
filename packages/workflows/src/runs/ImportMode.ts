/**
 * What a mode makes of rows that depends on what is stored, which a key that may not view contacts cannot say: which contacts an
 * import writes to, and what it gives new ones.
 */
import type { AddMode, ContactPayload, ImportWarning } from "@roster/domain"
import { leavesOut, statusAfter } from "@roster/domain/internal"
import type { Found } from "./ContactReader.ts"
import type { Write } from "./RecordedChanges.ts"

/** Counts the contacts that a default status does not reach: they are stored already, and their rows give none. */
export const makeUnreached = ({ defaultStatus }: AddMode) => {
  // A contact that changed meanwhile is looked at once more.
  const unreached = new WeakSet<ContactPayload>()
  let count = 0
  return {
    look: (contact: ContactPayload, { contact: stored }: Found): void => {
      if (defaultStatus === undefined || stored === null || contact.status !== undefined || unreached.has(contact))
        return
      unreached.add(contact)
      count++
    },
    warnings: (): ReadonlyArray<ImportWarning> =>
      count === 0
        ? []
        : [
            {
              code: "DefaultStatus",
              warning: `the contact is stored already and keeps its status, since ${defaultStatus} is for new ones`,
              count,
              examples: []
            }
          ]
  }
}

/** Gives the write of a contact for what is stored, or `undefined` to leave it out. */
type FitWrite = (write: Write, found: Found, beginsWithoutStatus: boolean) => Write | undefined

/** How writes are fitted to what is stored; `undefined` for a mode that takes all as they are. */
export const fitOf = ({ defaultStatus, only }: AddMode): FitWrite | undefined =>
  only === undefined && defaultStatus === undefined
    ? undefined
    : (given, { contact }, beginsWithoutStatus) => {
        if (leavesOut({ only }, contact !== null)) return undefined
        const { write } = given
        if (contact !== null || write === undefined || defaultStatus === undefined) return given
        if (write.status !== undefined && !beginsWithoutStatus) return given
        // As if the rows were imported one after the other: the first gives the contact this status, and others may change it.
        const isReplaced = write.status !== undefined && statusAfter({ status: defaultStatus }, write) === write.status
        return isReplaced ? given : { ...given, write: { ...write, status: defaultStatus } }
      }
