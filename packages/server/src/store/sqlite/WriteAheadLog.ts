/**
 * The WAL that a process left which did not end well.
 */
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs"

const pieceBytes = 1024 * 1024

/**
 * Writes what a WAL holds once more, and syncs it. A process whose sync failed leaves commits behind that can be read and
 * are not on the disk, which no further sync would put there: what is written behind them would be lost with them.
 * (docs/decisions/durability.md)
 *
 * **Gotchas**
 *
 * The caller holds the lock for writing, so that nobody else changes the file meanwhile.
 */
export const rewriteWal = (wal: string): void => {
  const size = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const file = openSync(wal, "r+")
  try {
    const piece = Buffer.alloc(Math.min(size, pieceBytes))
    for (let at = 0; at < size;) {
      const length = readSync(file, piece, 0, piece.length, at)
      if (length === 0) break
      at += writeSync(file, piece, 0, length, at)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
