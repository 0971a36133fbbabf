/**
 * Which IP addresses belong to the public Internet, by the special-purpose registries of IANA. What is not known to be
 * public is not.
 */
import { BlockList, isIP } from "node:net"
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os"

const special4: ReadonlyArray<readonly [network: string, prefix: number]> = [
  ["0.0.0.0", 8], // "this network"; a connection to it reaches this machine
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT, and the metadata service of Alibaba Cloud
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // the host agent of Azure: public by number, reachable only from inside
  ["169.254.0.0", 16], // link-local, and the metadata service of nearly every cloud
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments, and the metadata service of Oracle Cloud
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4] // reserved, and broadcast
]

/** A list that is filled when it is first asked: no other start of a store should wait for the parsing of networks. */
const lazyList = (fill: (list: BlockList) => void): (() => BlockList) => {
  let filled: BlockList | undefined
  return () => {
    if (filled === undefined) {
      filled = new BlockList()
      fill(filled)
    }
    return filled
  }
}

// The IPv6 addresses that can be public; every other is loopback, local, multicast or not assigned to anyone.
const routed6 = lazyList((list) => {
  list.addSubnet("2000::", 3, "ipv6") // global unicast
  list.addSubnet("::ffff:0:0", 96, "ipv6") // IPv4-mapped: as public as the IPv4 address in it
  list.addSubnet("64:ff9b::", 96, "ipv6") // NAT64: likewise
})

const special = lazyList((list) => {
  list.addSubnet("2001::", 23, "ipv6") // protocol assignments: Teredo, benchmarking, ORCHID
  list.addSubnet("2001:db8::", 32, "ipv6") // documentation
  list.addSubnet("2002::", 16, "ipv6") // 6to4: holds an IPv4 address
  list.addSubnet("3ffe::", 16, "ipv6") // 6bone, given back
  list.addSubnet("3fff::", 20, "ipv6") // documentation
  for (const [network, prefix] of special4) addNetwork(list, network, prefix)
})

/**
 * Says whether an address is one of the public Internet: not private, local, special or reserved, and no IPv6 address
 * that holds such an IPv4 address. What is not an IP address is not public.
 */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !special().check(address, "ipv4")
    case 6:
      return !address.includes("%") && routed6().check(address, "ipv6") && !special().check(address, "ipv6")
    default:
      return false
  }
}

const linkLocal = lazyList((list) => {
  addNetwork(list, "169.254.0.0", 16)
  addNetwork(list, "fe80::", 10)
  addNetwork(list, "168.63.129.16", 32) // Azure
  addNetwork(list, "100.100.100.200", 32) // Alibaba Cloud
  addNetwork(list, "192.0.0.192", 32) // Oracle Cloud
  addNetwork(list, "fd00:ec2::254", 128) // AWS
  addNetwork(list, "fd20:ce::254", 128) // Google Cloud
})

/**
 * Says whether an address is link-local or of a cloud's metadata service, which hands credentials to whoever asks: no
 * name should lead there, not even one that the operator trusts.
 */
export const isMetadataAddress = (address: string): boolean => isIn(linkLocal(), address)

/**
 * Says whether an address is of this machine or of a network that it is directly part of. Such an address may be public
 * and yet lead behind the firewall, as every IPv6 address of an office does.
 */
export const isNeighbourAddress = (
  address: string,
  interfaces: NodeJS.Dict<Array<NetworkInterfaceInfo>> = networkInterfaces()
): boolean => {
  const networks = new BlockList()
  for (const { cidr } of Object.values(interfaces).flatMap((infos) => infos ?? [])) {
    const [network = "", prefix = ""] = cidr?.split("/") ?? []
    if (isIP(network) !== 0) addNetwork(networks, network, Number(prefix))
  }
  return isIn(networks, address)
}

const addNetwork = (list: BlockList, network: string, prefix: number): void => {
  if (isIP(network) === 6) return list.addSubnet(network, prefix, "ipv6")
  // BlockList itself reads an IPv4-mapped address as the IPv4 address in it; one for NAT64 it does not.
  list.addSubnet(network, prefix, "ipv4")
  list.addSubnet(`64:ff9b::${network}`, 96 + prefix, "ipv6")
}

const isIn = (list: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && list.check(address.replace(/%.*$/, ""), family === 6 ? "ipv6" : "ipv4")
}
