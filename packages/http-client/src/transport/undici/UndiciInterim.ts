/**
 * Interim answers (1xx) are to be ignored, asked for or not (RFC 9110, 15.2). undici 8.12.4 ignores all but one: it takes
 * a `100 Continue` for a broken answer and closes the connection. So its status is changed to 102 before undici reads it.
 */
const prefix = [...new TextEncoder().encode("HTTP/1.")]
const blankLine = [...new TextEncoder().encode("\r\n\r\n")]
const zero = 0x30
const one = 0x31
const two = 0x32

/** Follows the bytes of one connection from the start of an answer up to the status of its final head. */
export class UndiciInterim {
  /** Where in the status line the next byte is; behind it while an interim head is skipped; -1 where nothing is looked for. */
  #position = -1
  #hundred = false
  #matched = 0

  /** A request has been written: what comes next is the head of an answer. */
  expectHead(): void {
    this.#position = 0
  }

  /** Changes the bytes in place. */
  rewrite(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length && this.#position >= 0; index++) {
      const byte = bytes[index]
      if (this.#position >= 12) {
        this.#skip(byte)
        continue
      }
      const position = this.#position++
      if (position < prefix.length ? byte !== prefix[position] : position === 9 && byte !== one) this.#position = -1
      else if (position === 10) this.#hundred = byte === zero
      else if (position === 11 && this.#hundred && byte === zero) bytes[index] = two
    }
  }

  #skip(byte: number | undefined): void {
    this.#matched = byte === blankLine[this.#matched] ? this.#matched + 1 : byte === blankLine[0] ? 1 : 0
    if (this.#matched < blankLine.length) return
    this.#matched = 0
    this.#position = 0
  }
}
