/**
 * Secrets of 192 random bits, with a prefix for secret scanners and a checksum against typing errors. Only the digest
 * is stored; so many bits need neither a salt nor a slow hash. (docs/decisions/secrets.md)
 */
import { SecretFormat } from "@roster/domain/internal"
import { Effect, Redacted } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { hash } from "node:crypto"

export type CredentialKind = keyof typeof SecretFormat.prefixes

const secretBytes = 24

/** As many random bytes as a secret has. */
export const randomSecretBytes: Effect.Effect<Buffer> = WebCrypto.useSync((crypto) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(secretBytes)))
)

export const makeSecret = (kind: CredentialKind): Effect.Effect<Redacted.Redacted<string>> =>
  Effect.map(randomSecretBytes, (bytes) => {
    const bits = BigInt(`0x${bytes.toString("hex")}`)
    return Redacted.make(SecretFormat.secretOf(SecretFormat.prefixes[kind], bits), { label: "token" })
  })

/** From a text, since a buffer of its own for each digest would cost more than the digest. */
export const digestOf = (secret: string): Uint8Array => Buffer.from(hash("sha256", secret, "latin1"), "latin1")

/** Shortens every secret in a text to its prefix and its last four characters. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/(roster(?:smtp)?_)[0-9a-z]{30,}/gi, (secret, prefix: string) => `${prefix}…${secret.slice(-4)}`)

/** The prefix and the last four characters of a secret, by which people tell secrets apart. */
export const hintOf = (kind: CredentialKind, secret: string): string =>
  `${SecretFormat.prefixes[kind]}…${secret.slice(-4)}`
