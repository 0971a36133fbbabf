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
  readonly files: TlsFiles
  readonly options: SecureContextOptions
  /** Differs when a file was written or replaced. */
  readonly version: string
}

/** Runs a step that can fail, with the message of its failure. */
const orRefuse = <A>(run: () => A, message: (cause: unknown) => string): Effect.Effect<A, CertificateError> =>
  Effect.try({ try: run, catch: (cause) => new CertificateError({ message: message(cause) }) })

const versionOf = ({ certFile, keyFile }: TlsFiles) =>
  orRefuse(
    () =>
      [certFile, keyFile]
        .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
        .map((stats) => `${stats?.dev} ${stats?.ino} ${stats?.size} ${stats?.mtimeNs}`)
        .join(),
    String
  )

const readPem = (file: string) =>
  orRefuse(
    () => readFileSync(file),
    (cause) => `${file} cannot be read: ${Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown"}.`
  )

/** Loads the certificate of a service. */
export const loadCertificate = Effect.fnUntraced(function* (files: TlsFiles) {
  const { certFile, keyFile } = files
  // Before the files are read, so that a change in between is seen.
  const version = yield* versionOf(files)
  const [cert, key] = [yield* readPem(certFile), yield* readPem(keyFile)]
  const certificate = yield* orRefuse(
    () => new X509Certificate(cert),
    () => `${certFile} holds no certificate in PEM format.`
  )
  const privateKey = yield* orRefuse(
    () => createPrivateKey(key),
    () => `${keyFile} holds no private key in PEM format, or one with a passphrase, which cannot be asked for.`
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    return yield* new CertificateError({
      message: `The key in ${keyFile} is not that of the certificate in ${certFile}.`
    })
  }
  return { files, options: { cert, key, minVersion: "TLSv1.2" }, version } satisfies Certificate
})

/**
 * Loads the certificate again whenever its files have changed, so that a renewal needs no restart. While they cannot be
 * used, as between the writing of one and the other, the service keeps the one it has.
 */
export const renewCertificate = (server: Server, { files, version }: Certificate): Effect.Effect<never> => {
  let seen = version
  const renew = Effect.gen(function* () {
    const now = yield* versionOf(files)
    if (now === seen) return
    seen = now
    server.setSecureContext((yield* loadCertificate(files)).options)
  })
  return renew.pipe(
    Effect.catch(({ message }) => Effect.logError(`The certificate could not be renewed. ${message}`)),
    Effect.delay(checkInterval),
    Effect.forever
  )
}
