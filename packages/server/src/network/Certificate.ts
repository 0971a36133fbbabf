/** The certificate of the service, which is loaded again when its files change. */
import { Duration, Effect, Predicate, Schema } from "effect"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import type { Server } from "node:https"
import type { SecureContextOptions } from "node:tls"

/** The files of a certificate, both in PEM format. */
export interface TlsFiles {
  /** The certificate, followed by those of the authorities between it and a root. */
  readonly certFile: string
  /** The private key, without a passphrase. */
  readonly keyFile: string
}

/** The service cannot use its certificate. */
export class CertificateError extends Schema.TaggedError<CertificateError>()("CertificateError", {
  message: Schema.String
}) {}

/** How often the files are checked for changes. */
const checkInterval = Duration.seconds(10)

/** A certificate that a server can use. */
export interface Certificate {
  readonly options: SecureContextOptions
  /** Differs when a file was written or replaced. */
  readonly version: string
}

const versionOf = ({ certFile, keyFile }: TlsFiles): string =>
  [certFile, keyFile]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((stats) => `${stats?.dev} ${stats?.ino} ${stats?.size} ${stats?.mtimeNs}`)
    .join()

/** Runs a step that can fail, with the message of its failure. */
const orRefuse = <A>(run: () => A, message: (cause: unknown) => string): A => {
  try {
    return run()
  } catch (cause) {
    throw new CertificateError({ message: message(cause) })
  }
}

const readPem = (file: string): Buffer =>
  orRefuse(
    () => readFileSync(file),
    (cause) => `${file} cannot be read: ${Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown"}.`
  )

const load = (files: TlsFiles): Certificate => {
  const { certFile, keyFile } = files
  // Before the files are read, so that a change in between is seen.
  const version = versionOf(files)
  const [cert, key] = [readPem(certFile), readPem(keyFile)]
  const certificate = orRefuse(
    () => new X509Certificate(cert),
    () => `${certFile} holds no certificate in PEM format.`
  )
  const privateKey = orRefuse(
    () => createPrivateKey(key),
    () => `${keyFile} holds no private key in PEM format, or one with a passphrase, which cannot be asked for.`
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError({ message: `The key in ${keyFile} is not that of the certificate in ${certFile}.` })
  }
  return { options: { cert, key, minVersion: "TLSv1.2" }, version }
}

/** Loads the certificate of a service. */
export const loadCertificate = (files: TlsFiles): Effect.Effect<Certificate, CertificateError> =>
  Effect.try({
    try: () => load(files),
    catch: (cause) => (cause instanceof CertificateError ? cause : new CertificateError({ message: String(cause) }))
  })

/**
 * Loads the certificate again whenever its files have changed, so that a renewal needs no restart. While they cannot be
 * used, as between the writing of one and the other, the service keeps the one it has.
 */
export const renewCertificate = (server: Server, files: TlsFiles, { version }: Certificate): Effect.Effect<never> => {
  let seen = version
  const renew = Effect.suspend(() => {
    const now = versionOf(files)
    if (now === seen) return Effect.void
    seen = now
    return Effect.flatMap(loadCertificate(files), ({ options }) => Effect.sync(() => server.setSecureContext(options)))
  })
  return renew.pipe(
    Effect.catch(({ message }) => Effect.logError(`The certificate could not be renewed. ${message}`)),
    Effect.delay(checkInterval),
    Effect.forever
  )
}
