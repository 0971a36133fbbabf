import { assert, describe, it } from "@effect/vitest"
import { isMetadataAddress, isNeighbourAddress, isPublicAddress } from "../../src/network/AddressPolicy.ts"

// First and last address of each range, from the IANA special-purpose registries (RFC 6890 and its updates).
const special4 = [
  "0.0.0.0",
  "0.255.255.255",
  "10.0.0.0",
  "10.255.255.255",
  "100.64.0.0",
  "100.100.100.200",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.255",
  "168.63.129.16",
  "169.254.0.0",
  "169.254.169.254",
  "169.254.255.255",
  "172.16.0.0",
  "172.31.255.255",
  "192.0.0.0",
  "192.0.0.192",
  "192.0.0.255",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.0",
  "192.168.255.255",
  "198.18.0.0",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.255",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.0",
  "255.255.255.255"
]
// The addresses just outside of them.
const public4 = [
  "1.0.0.0",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "168.63.129.15",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255"
]

const hex = (address: string) =>
  address
    .split(".")
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .join("")
    .replace(/^(.{4})/, "$1:")

describe("public addresses", () => {
  it("are told from the special ones", () => {
    for (const address of special4) assert.isFalse(isPublicAddress(address), address)
    for (const address of public4) assert.isTrue(isPublicAddress(address), address)
  })

  it("IPv6 addresses that hold a special IPv4 address are special", () => {
    for (const address of special4) {
      const wrapped = [
        `::ffff:${address}`,
        `::ffff:${hex(address)}`,
        `64:ff9b::${address}`,
        `64:ff9b::${hex(address)}`,
        `::${address}`,
        `::${hex(address)}`,
        `2002:${hex(address)}::`,
        `2002:${hex(address)}::1`,
        `::ffff:0:${address}`,
        `64:ff9b:1::${address}`,
        `2001:0:${hex(address)}::1`
      ]
      for (const each of wrapped) assert.isFalse(isPublicAddress(each), each)
    }
  })

  it("IPv6 addresses that embed a public IPv4 address are public if that address is reached", () => {
    for (const address of public4) {
      assert.isTrue(isPublicAddress(`::ffff:${hex(address)}`), address)
      assert.isTrue(isPublicAddress(`64:ff9b::${address}`), address)
      assert.isFalse(isPublicAddress(`2002:${hex(address)}::1`), address)
      assert.isFalse(isPublicAddress(`2001::${address}`), address)
      assert.isFalse(isPublicAddress(`::${address}`), address)
    }
  })

  it("of IPv6 are global unicast alone", () => {
    for (const address of [
      "::",
      "::1",
      "100::1",
      "1fff::1",
      "2001::1",
      "2001:2::1",
      "2001:20::1",
      "2001:1ff::1",
      "2001:db8::1",
      "3ffe::1",
      "3fff::1",
      "4000::1",
      "5f00::1",
      "fc00::1",
      "fd00:ec2::254",
      "fdff::1",
      "fe80::1",
      "fe80::1%eth0",
      "2606:4700::1111%eth0",
      "fec0::1",
      "ff02::1",
      "ffff::1"
    ])
      assert.isFalse(isPublicAddress(address), address)
    for (const address of ["2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00::1", "3fff:1000::1"]) {
      assert.isTrue(isPublicAddress(address), address)
    }
  })

  it("are IP addresses in their one spelling", () => {
    for (const address of [
      "",
      "localhost",
      "8.8.8",
      "0x08080808",
      "134744072",
      "08.8.8.8",
      "[2a00::1]",
      "8.8.8.8:80",
      "8.8.8.8 "
    ]) {
      assert.isFalse(isPublicAddress(address), address)
    }
  })
})

describe("addresses that no name may lead to", () => {
  it("are those of metadata services and of the link", () => {
    for (const address of [
      "169.254.169.254",
      "::ffff:a9fe:a9fe",
      "64:ff9b::a9fe:a9fe",
      "fe80::1",
      "fe80::1%eth0",
      "fd00:ec2::254",
      "fd20:ce::254",
      "100.100.100.200",
      "168.63.129.16",
      "192.0.0.192"
    ])
      assert.isTrue(isMetadataAddress(address), address)
    for (const address of ["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "fd00::1", "8.8.8.8", "no"]) {
      assert.isFalse(isMetadataAddress(address), address)
    }
  })
})

describe("neighbours", () => {
  it("are in a network of this machine, however public", () => {
    const common = { mac: "00:00:00:00:00:00", internal: false, netmask: "" }
    const interfaces = {
      eth0: [
        { ...common, family: "IPv4" as const, address: "8.8.8.9", cidr: "8.8.8.9/24" },
        { ...common, family: "IPv6" as const, address: "2a00:1::5", cidr: "2a00:1::5/64", scopeid: 0 }
      ],
      tun0: [{ ...common, family: "IPv4" as const, address: "9.9.9.9", cidr: null }],
      gone: undefined
    }
    for (const address of ["8.8.8.9", "8.8.8.1", "::ffff:808:801", "64:ff9b::808:801", "2a00:1::1"]) {
      assert.isTrue(isNeighbourAddress(address, interfaces), address)
    }
    for (const address of ["8.8.9.1", "2a00:1:0:1::1", "1.1.1.1", "no"]) {
      assert.isFalse(isNeighbourAddress(address, interfaces), address)
    }
    assert.isTrue(isNeighbourAddress("127.0.0.1"))
  })
})
