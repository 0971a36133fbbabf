/** Whose files are obeyed: those that this user or root alone can change. (docs/decisions/files.md) */

/** Why a file or folder is not to be obeyed. */
export type Distrust = "ForeignOwner" | "OthersWrite"

/** The permission of the group or of everybody to write. */
const othersWrite = 0o022

/** Why this user is not to obey a file or folder; `undefined` if it may, as on Windows, which has no such owners and modes. */
export const distrustOf = (
  { mode, uid }: { readonly mode: number; readonly uid: number },
  self: number | undefined
): Distrust | undefined => {
  if (self === undefined) return undefined
  if (uid !== self && uid !== 0) return "ForeignOwner"
  return (mode & othersWrite) === 0 ? undefined : "OthersWrite"
}
