/**
 * The names of custom fields, which are equal if their folded forms are. A contact keeps the spelling that it has first.
 * (docs/decisions/records.md)
 */

/** The maximum number of names in one object of a request or file, which is read in one piece. */
export const maximumNames = 1000

/** Folds a text for comparison, as rules do: lower case, then NFC. SQLite's `lower` folds ASCII only. */
export const foldText = (text: string): string => text.toLowerCase().normalize("NFC")

const maximumKept = 4096
const kept = new Map<string, string>()

/** Folds the name of a custom field. Names repeat from contact to contact, so the last ones are kept folded. */
export const foldName = (name: string): string => {
  let folded = kept.get(name)
  if (folded !== undefined) return folded
  folded = foldText(name)
  if (kept.size >= maximumKept) kept.clear()
  kept.set(name, folded)
  return folded
}

/** Fields by their folded names. Only another service can hold equal names, of which the first one counts. */
export const byFoldedName = <A>(fields: { readonly [name: string]: A }): ReadonlyMap<string, A> => {
  const folded = new Map<string, A>()
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (value !== undefined && !folded.has(foldName(name))) folded.set(foldName(name), value)
  }
  return folded
}

/** The value of a field by any spelling of its name; of two that only another service can hold, that in the same case. */
export const valueByName = <A>(fields: { readonly [name: string]: A }, name: string): A | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : byFoldedName(fields).get(foldName(name))

/** Gives names the spelling that a record has for them; a name that it does not have stays as it is. */
export const spellingsOf = (record: { readonly [name: string]: unknown }): ((name: string) => string) => {
  let spellings: Map<string, string> | undefined
  return (name) => {
    if (Object.hasOwn(record, name)) return name
    if (spellings === undefined) {
      spellings = new Map()
      for (const spelling in record) if (!spellings.has(foldName(spelling))) spellings.set(foldName(spelling), spelling)
    }
    return spellings.get(foldName(name)) ?? name
  }
}

/** Whether a record has more names than `maximumNames`. */
export const hasManyNames = (record: { readonly [name: string]: unknown }): boolean => {
  let count = 0
  for (const _ in record) if (++count > maximumNames) return true
  return false
}

/** Whether two names of a record are equal. It collects names only once one differs from its folded form. */
export const hasEqualNames = (record: { readonly [name: string]: unknown }): boolean => {
  for (const name in record) {
    if (foldName(name) !== name) return byFoldedName(record).size < Object.keys(record).length
  }
  return false
}

/** The same fields under other names, or the same record if none differs. */
export const renamed = <A>(
  fields: { readonly [name: string]: A },
  nameOf: (name: string) => string
): { readonly [name: string]: A } => {
  for (const name in fields) {
    if (nameOf(name) === name) continue
    // `fromEntries` keeps `__proto__`, which an assignment would not.
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [nameOf(name), value]))
  }
  return fields
}
