/** Which contacts an import writes to, and what it gives new ones: what depends on what is stored. */
import type { ContactStatus } from "@roster/domain"
import type { Found } from "./ContactReader.ts"
import type { Write } from "./RecordedChanges.ts"

/** Which contacts an import writes to. A key that may not view contacts cannot say. */
export interface ImportMode {
  /** Leaves out the rows of other contacts than existing or new ones (default: neither). */
  readonly only?: "existing" | "new" | undefined
  /** The status of new contacts whose rows give none (default: Active). Existing contacts keep theirs. */
  readonly defaultStatus?: ContactStatus | undefined
}

/** Gives the write for what is stored, or `undefined` to leave it out. */
type FitWrite = (write: Write, found: Found) => Write | undefined

/** How writes are fitted to what is stored; `undefined` for a mode that takes all as they are. */
export const fitOf = ({ defaultStatus, only }: ImportMode): FitWrite | undefined =>
  only === undefined && defaultStatus === undefined
    ? undefined
    : (given, { contact }) => {
        if (only === (contact === null ? "existing" : "new")) return undefined
        const { write } = given
        return contact !== null || write === undefined || write.status !== undefined || defaultStatus === undefined
          ? given
          : { ...given, write: { ...write, status: defaultStatus } }
      }
