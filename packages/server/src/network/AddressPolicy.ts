/** Which addresses a file may be fetched from: public ones that are in no network of this machine. */
import { IpNetwork, NetAddress } from "effect/net"
import { isIP } from "node:net"
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os"
import { parseAddress, parseRange } from "./IpRanges.ts"

// The special-purpose registries of IANA, parsed on first use so that a store starts faster.
const networks = (...ranges: ReadonlyArray<string>): (() => ReadonlyArray<IpNetwork.IpNetwork>) => {
  let parsed: ReadonlyArray<IpNetwork.IpNetwork> | undefined
  return () => (parsed ??= ranges.map(IpNetwork.fromStringUnsafe))
}

const special = networks(
  "0.0.0.0/8", // "this network"; a connection to it reaches this machine
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT, and the metadata service of Alibaba Cloud
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // the host agent of Azure: public by number, reachable only from inside
  "169.254.0.0/16", // link-local, and the metadata service of nearly every cloud
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments, and the metadata service of Oracle Cloud
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "2001::/23", // protocol assignments: Teredo, benchmarking, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: holds an IPv4 address
  "3ffe::/16", // 6bone, given back
  "3fff::/20" // documentation
)

// The IPv6 addresses that can be public; every other is loopback, local, multicast or unassigned.
const globalUnicast = networks("2000::/3")

const nat64 = networks("64:ff9b::/96")

const linkLocal = networks(
  "169.254.0.0/16",
  "fe80::/10",
  "168.63.129.16/32", // Azure
  "100.100.100.200/32", // Alibaba Cloud
  "192.0.0.192/32", // Oracle Cloud
  "fd00:ec2::254/128", // AWS
  "fd20:ce::254/128" // Google Cloud
)

const isIn = (networks: ReadonlyArray<IpNetwork.IpNetwork>, addresses: ReadonlyArray<NetAddress.IpAddress>): boolean =>
  addresses.some((address) => networks.some((network) => IpNetwork.contains(network, address)))

/** An address and, of a NAT64 address, the IPv4 address that it leads to; none if the text is not an IP address. */
const formsOf = (text: string): ReadonlyArray<NetAddress.IpAddress> => {
  const address = parseAddress(text)
  if (address === undefined) return []
  if (NetAddress.isIpv4Address(address) || !isIn(nat64(), [address])) return [address]
  return [address, NetAddress.ipv4FromBytesUnsafe(Uint8Array.from(NetAddress.ipv6ToOctets(address).slice(12)))]
}

/** Whether an address is public: a valid one outside the special-purpose ranges, without an IPv4 address in them. */
export const isPublicAddress = (text: string): boolean => {
  if (isIP(text) === 0 || text.includes("%")) return false
  const forms = formsOf(text)
  const canBePublic = forms.some(NetAddress.isIpv4Address) || isIn(globalUnicast(), forms)
  return canBePublic && !isIn(special(), forms)
}

/** Whether an address is link-local or a cloud's metadata service; no name, even an allowed one, may resolve to it. */
export const isMetadataAddress = (text: string): boolean => isIn(linkLocal(), formsOf(text))

/** Whether an address is in an attached network: even a public one, as with IPv6 in an office, can be internal. */
export const isNeighbourAddress = (
  text: string,
  interfaces: NodeJS.Dict<Array<NetworkInterfaceInfo>> = networkInterfaces()
): boolean => {
  const attached = Object.values(interfaces)
    .flatMap((infos) => infos ?? [])
    .flatMap(({ cidr }) => parseRange(cidr ?? "") ?? [])
  return isIn(attached, formsOf(text))
}
