/**
 * Which rows of a grid are seen. A browser ends an element at some 30 million pixels, so a grid of more rows scrolls in
 * steps of several rows a pixel, and what is drawn stands where the eye is.
 */

/** The height of a row in pixels. */
export const rowHeight = 33

/** Maximum height of the element that scrolls, below what any browser draws. */
export const maximumHeight = 8_000_000

/** What decides which rows are seen. */
export interface Viewed {
  /** The number of rows. */
  readonly total: number
  /** The height of what is seen, in pixels. */
  readonly height: number
}

/** How many rows fit, the last one perhaps in part. */
export const fitting = ({ height }: Viewed): number => Math.max(1, Math.floor(height / rowHeight))

/** The height of the element that scrolls. */
export const scrollHeight = ({ total }: Viewed): number => Math.min(total * rowHeight, maximumHeight)

/** Whether a pixel stands for more than one row. */
export const isScaled = ({ total }: Viewed): boolean => total * rowHeight > maximumHeight

/** The largest first row, at which the last one is seen. */
export const lastFirst = (viewed: Viewed): number => Math.max(0, viewed.total - fitting(viewed))

/** The first row, fractions included, where the element has been scrolled to. */
export const firstRow = (viewed: Viewed, scrollTop: number): number => {
  if (!isScaled(viewed)) return scrollTop / rowHeight
  const range = scrollHeight(viewed) - viewed.height
  return Math.min(1, Math.max(0, scrollTop / range)) * lastFirst(viewed)
}

/** Where the element is scrolled to for a first row. */
export const scrollTop = (viewed: Viewed, first: number): number => {
  if (!isScaled(viewed)) return first * rowHeight
  return lastFirst(viewed) === 0 ? 0 : (first / lastFirst(viewed)) * (scrollHeight(viewed) - viewed.height)
}

/** The first row after a row has to be seen: as it was, if it is seen. */
export const firstToSee = (viewed: Viewed, first: number, row: number): number => {
  const last = Math.max(0, fitting(viewed) - 1)
  return Math.min(lastFirst(viewed), row < first ? row : row > first + last ? row - last : first)
}

/** The row that a key leads to, or `undefined` for another key. */
export const rowAfterKey = (viewed: Viewed, row: number, key: string): number | undefined => {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + fitting(viewed),
    PageUp: row - fitting(viewed),
    Home: 0,
    End: viewed.total - 1
  }
  const next = steps[key]
  return next === undefined ? undefined : Math.max(0, Math.min(viewed.total - 1, next))
}
