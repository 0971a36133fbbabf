/**
 * Archives byte by byte, by PKWARE's application note, right or wrong as a test wants them.
 */
import { crc32, deflateRawSync } from "node:zlib"

export interface ZipEntry {
  readonly name: string
  readonly content: string | Uint8Array
  /** Kept as it is in place of deflated. */
  readonly stored?: boolean
  /** Marked as encrypted. */
  readonly encrypted?: boolean
  /** The mode of Unix with the kind of file in it, as a link has it. */
  readonly mode?: number
  /** The sizes and the checksum stand behind the data. */
  readonly descriptor?: boolean
  /** The sizes stand in a field of 8 bytes. */
  readonly wide?: boolean
  /** What the list says of the size in place of the truth. */
  readonly listedSize?: number
}

const bytesOf = (size: number, write: (view: DataView) => void): Buffer => {
  const bytes = Buffer.alloc(size)
  write(new DataView(bytes.buffer, bytes.byteOffset, size))
  return bytes
}

export const zipBytes = (
  entries: ReadonlyArray<ZipEntry>,
  options: { readonly listedEntries?: number; readonly listed?: ReadonlyArray<number>; readonly wideEnd?: boolean } = {}
): Buffer => {
  const parts: Array<Buffer> = []
  const list: Array<Buffer> = []
  let offset = 0
  const push = (...bytes: ReadonlyArray<Buffer>) => {
    for (const each of bytes) {
      parts.push(each)
      offset += each.length
    }
  }
  for (const [index, entry] of entries.entries()) {
    const content = Buffer.from(entry.content)
    const data = entry.stored === true ? content : deflateRawSync(content)
    const name = Buffer.from(entry.name)
    const flags = (entry.encrypted === true ? 1 : 0) | (entry.descriptor === true ? 8 : 0) | 0x800
    const method = entry.stored === true ? 0 : 8
    const sum = crc32(content)
    const known = entry.descriptor !== true
    const start = offset
    const extra =
      entry.wide === true
        ? bytesOf(20, (view) => {
            view.setUint16(0, 1, true)
            view.setUint16(2, 16, true)
            view.setBigUint64(4, BigInt(known ? content.length : 0), true)
            view.setBigUint64(12, BigInt(known ? data.length : 0), true)
          })
        : Buffer.alloc(0)
    const size = (actual: number) => (entry.wide === true ? 0xffffffff : known ? actual : 0)
    push(
      bytesOf(30, (view) => {
        view.setUint32(0, 0x04034b50, true)
        view.setUint16(4, entry.wide === true ? 45 : 20, true)
        view.setUint16(6, flags, true)
        view.setUint16(8, method, true)
        view.setUint32(14, known ? sum : 0, true)
        view.setUint32(18, size(data.length), true)
        view.setUint32(22, size(content.length), true)
        view.setUint16(26, name.length, true)
        view.setUint16(28, extra.length, true)
      }),
      name,
      extra,
      data
    )
    if (!known) {
      const width = entry.wide === true ? 8 : 4
      push(
        bytesOf(8 + 2 * width, (view) => {
          view.setUint32(0, 0x08074b50, true)
          view.setUint32(4, sum, true)
          if (width === 4) {
            view.setUint32(8, data.length, true)
            view.setUint32(12, content.length, true)
          } else {
            view.setBigUint64(8, BigInt(data.length), true)
            view.setBigUint64(16, BigInt(content.length), true)
          }
        })
      )
    }
    if (options.listed?.includes(index) === false) continue
    list.push(
      bytesOf(46, (view) => {
        view.setUint32(0, 0x02014b50, true)
        view.setUint16(4, (3 << 8) | 20, true)
        view.setUint16(6, 20, true)
        view.setUint16(8, flags, true)
        view.setUint16(10, method, true)
        view.setUint32(16, sum, true)
        view.setUint32(20, data.length, true)
        view.setUint32(24, entry.listedSize ?? content.length, true)
        view.setUint16(28, name.length, true)
        view.setUint32(38, ((entry.mode ?? 0o100644) << 16) >>> 0, true)
        view.setUint32(42, start, true)
      }),
      name
    )
  }
  const listed = options.listedEntries ?? options.listed?.length ?? entries.length
  const listStart = offset
  push(...list)
  const listSize = offset - listStart
  if (options.wideEnd === true) {
    const record = offset
    push(
      bytesOf(56, (view) => {
        view.setUint32(0, 0x06064b50, true)
        view.setBigUint64(4, 44n, true)
        view.setBigUint64(24, BigInt(listed), true)
        view.setBigUint64(32, BigInt(listed), true)
        view.setBigUint64(40, BigInt(listSize), true)
        view.setBigUint64(48, BigInt(listStart), true)
      }),
      bytesOf(20, (view) => {
        view.setUint32(0, 0x07064b50, true)
        view.setBigUint64(8, BigInt(record), true)
        view.setUint32(16, 1, true)
      })
    )
  }
  push(
    bytesOf(22, (view) => {
      view.setUint32(0, 0x06054b50, true)
      view.setUint16(8, options.wideEnd === true ? 0xffff : listed, true)
      view.setUint16(10, options.wideEnd === true ? 0xffff : listed, true)
      view.setUint32(12, options.wideEnd === true ? 0xffffffff : listSize, true)
      view.setUint32(16, options.wideEnd === true ? 0xffffffff : listStart, true)
    })
  )
  return Buffer.concat(parts)
}
