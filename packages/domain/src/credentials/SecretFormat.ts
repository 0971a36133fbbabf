/**
 * The form of secrets that the service makes: a prefix for secret scanners, 192 random bits, and a checksum by which a
 * mistyped one is known without asking for it. (docs/decisions/secrets.md)
 */

/** The beginnings of the secrets of the two kinds of credential. */
export const prefixes = { ApiKey: "roster_", Smtp: "rostersmtp_" } as const

/** The digits of 192 bits in base 36. */
const randomDigits = 38

/** The digits of 32 bits in base 36. */
const checksumDigits = 7

const apiKeyForm = new RegExp(`^${prefixes.ApiKey}[0-9a-z]{${randomDigits + checksumDigits}}$`)

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})

/** CRC-32 of the first characters of an ASCII text. */
const crc32 = (text: string, length: number): number => {
  let crc = -1
  for (let index = 0; index < length; index++) {
    crc = (crc >>> 8) ^ (crcTable[(crc ^ text.charCodeAt(index)) & 255] ?? 0)
  }
  return ~crc >>> 0
}

/** Makes a secret of random bits. */
export const secretOf = (prefix: (typeof prefixes)[keyof typeof prefixes], bits: bigint): string => {
  const body = prefix + bits.toString(36).padStart(randomDigits, "0")
  return body + crc32(body, body.length).toString(36).padStart(checksumDigits, "0")
}

/** Whether a text has the form and the checksum of an API key of the service. */
export const isApiKey = (text: string): boolean => {
  if (!apiKeyForm.test(text)) return false
  const end = text.length - checksumDigits
  return Number.parseInt(text.slice(end), 36) === crc32(text, end)
}
