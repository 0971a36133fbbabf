/**
 * The secrets of credentials: 192 random bits behind a prefix that scanners know, and a checksum that finds a mistyped
 * one without asking anybody. Only the digest is kept; a secret of this many bits needs no salt and no slow hash.
 * (docs/decisions/secrets.md)
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

/** A text in which a secret, put where a name belongs, is no more than its ends. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/(roster(?:smtp)?_)[0-9a-z]{30,}/gi, (secret, prefix: string) => `${prefix}…${secret.slice(-4)}`)

/** What people tell secrets apart by: how it begins and its last four characters. */
export const hintOf = (kind: CredentialKind, secret: string): string => `${prefixes[kind]}…${secret.slice(-4)}`
