/** The fold by which texts in rules and the names of custom fields are equal: lower case, then NFC. */

/** Folds a text for comparison. SQLite's `lower` folds ASCII only. */
export const foldText = (text: string): string => text.toLowerCase().normalize("NFC")
