/**
 * Cells that a spreadsheet would run as a formula (`=`, `+`, `-`, `@`, a tab, a line break or NUL in front) are written
 * with an apostrophe before them, and read back without it. A text that has such apostrophes of its own gets one more, so
 * that every text comes back as it was. (docs/decisions/csv.md)
 */
const runnable = /^'*[=+\-@\t\r\n\0]/
const protectedCell = /^'+[=+\-@\t\r\n\0]/

export const protectCell = (text: string): string => (runnable.test(text) ? `'${text}` : text)

export const restoreCell = (cell: string): string => (protectedCell.test(cell) ? cell.slice(1) : cell)
