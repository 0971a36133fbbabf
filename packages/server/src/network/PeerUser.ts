/** Whose process is at the other end of a connection within this machine. */
import { readFileSync } from "node:fs"
import type { Socket } from "node:net"

/** An IPv4 address and a port as Linux lists them, in a table of IPv4 or IPv6. */
const listedForms = (address: string, port: number): ReadonlyArray<string> => {
  const bytes = Buffer.from(address.split(".").map(Number).toReversed()).toString("hex").toUpperCase()
  const end = port.toString(16).toUpperCase().padStart(4, "0")
  return [`${bytes}:${end}`, `0000000000000000FFFF0000${bytes}:${end}`]
}

const established = "01"
const listening = "0A"

/** The sockets of this machine: both ends, the state, and the user. */
const listedSockets = () =>
  ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => {
    try {
      return readFileSync(file, "latin1")
        .split("\n")
        .slice(1)
        .map((line) => {
          const [, local = "", remote = "", state = "", , , , uid = ""] = line.trim().split(/\s+/)
          return { local, remote, state, uid: Number(uid) }
        })
    } catch {
      return []
    }
  })

/**
 * Whether the other end of a connection over IPv4 within this machine is a process of this user or of root, as far as the
 * system tells: Linux alone does. A socket that was closed meanwhile belongs to nobody.
 */
export const isOfThisUser = ({
  localAddress = "",
  localPort = 0,
  remoteAddress = "",
  remotePort = 0
}: Socket): boolean => {
  const own = process.getuid?.()
  if (own === undefined) return true
  const here = listedForms(localAddress, localPort)
  const there = listedForms(remoteAddress, remotePort)
  const sockets = listedSockets()
  if (!sockets.some(({ local, state }) => state === listening && here.includes(local))) return true
  const other = sockets.find(
    ({ local, remote, state }) => state === established && there.includes(local) && here.includes(remote)
  )
  return other?.uid === own || other?.uid === 0
}
