/** Self-signed certificates for faults of TLS, made on demand for a name and a period of validity. */
import { Effect } from "effect"
import { generateKeyPairSync, randomBytes, sign } from "node:crypto"
import tls from "node:tls"

export interface TestCertificate {
  readonly key: string
  readonly cert: string
}

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+/g, "")}`))
const nameOf = (name: string) => sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))))

/** Makes a certificate for `host`, a name or an IPv4 address. */
export const testCertificate = ({
  from,
  host,
  until
}: {
  readonly host: string
  readonly from: Date
  readonly until: Date
}): TestCertificate => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const algorithm = sequence(oid("2a8648ce3d040302"))
  const isAddress = /^\d+(?:\.\d+){3}$/.test(host)
  const alternative = isAddress ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host))
  const extension = (id: string, value: Uint8Array) => sequence(oid(id), der(0x04, value))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf("Roster test"),
    sequence(time(from), time(until)),
    nameOf("Roster test"),
    publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      sequence(
        extension("551d13", sequence(der(0x01, Buffer.from([0xff])))),
        extension("551d11", sequence(alternative))
      )
    )
  )
  const signature = sign("sha256", body, privateKey)
  const whole = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature))
  const lines = whole.toString("base64").replaceAll(/.{64}/g, "$&\n")
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
  }
}

/** Makes the whole process trust a certificate while the scope is open. */
export const trusted = ({ cert }: TestCertificate) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = tls.getCACertificates("default")
      tls.setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => tls.setDefaultCACertificates(before))
  )
