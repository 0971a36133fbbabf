/**
 * Secrets of 192 random bits, with a prefix for secret scanners and a checksum against typing errors. Only the digest
 * is stored; so many bits need neither a salt nor a slow hash. (docs/decisions/secrets.md)
 */
import { Redacted } from "effect"
import { hash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"

export type CredentialKind = "ApiKey" | "Smtp"

const prefixes = { ApiKey: "roster_", Smtp: "rostersmtp_" } as const

const secretBytes = 24

const checksum = (text: string): string => crc32(text).toString(36).padStart(7, "0")

export const makeSecret = (kind: CredentialKind): Redacted.Redacted<string> => {
  const body = `${prefixes[kind]}${BigInt(`0x${randomBytes(secretBytes).toString("hex")}`)
    .toString(36)
    .padStart(38, "0")}`
  return Redacted.make(body + checksum(body), { label: "token" })
}

export const digestOf = (secret: string): Uint8Array => hash("sha256", secret, "buffer")

/** Shortens every secret in a text to its prefix and its last four characters. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/(roster(?:smtp)?_)[0-9a-z]{30,}/gi, (secret, prefix: string) => `${prefix}…${secret.slice(-4)}`)

/** The prefix and the last four characters of a secret, by which people tell secrets apart. */
export const hintOf = (kind: CredentialKind, secret: string): string => `${prefixes[kind]}…${secret.slice(-4)}`
