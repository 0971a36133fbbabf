/**
 * The service that is paged through: so many contacts, each with an address of its own. A page is made once and the
 * numbers in it are written over, so that it costs the server next to nothing.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { wireContact } from "../src/Records.ts"
import { argument, listening } from "../src/Trial.ts"

const total = Number(argument("contacts"))
const largestPage = 1000
const digits = 7

/** Where the number of each contact of a page stands, and where its record begins. */
const numbers: Array<number> = []
const starts: Array<number> = []
const parts: Array<string> = []
let length = 1
for (let index = 0; index < largestPage; index++) {
  const record = JSON.stringify({ ...wireContact(index), Email: `${"#".repeat(digits)}@example.com` })
  starts.push(length)
  numbers.push(length + record.indexOf("#"))
  parts.push(record)
  length += Buffer.byteLength(record) + 1
}
starts.push(length)
const template = Buffer.from(`[${parts.join(",")},`)

const zero = 0x30
const closing = 0x5d

/** The contacts from an index on. */
const page = (first: number, count: number): Buffer => {
  if (count <= 0) return Buffer.from("[]")
  const bytes = Buffer.from(template.subarray(0, starts[count]))
  for (let index = 0; index < count; index++) {
    let rest = first + index
    const start = numbers[index] ?? 0
    for (let at = start + digits - 1; at >= start; at--) {
      bytes[at] = zero + (rest % 10)
      rest = Math.floor(rest / 10)
    }
  }
  bytes[bytes.length - 1] = closing
  return bytes
}

const server = createServer((request, response) => {
  const query = new URL(request.url ?? "", "http://localhost").searchParams
  const offset = Number(query.get("offset") ?? 0)
  const limit = Math.min(Number(query.get("limit") ?? 20), largestPage)
  const body = page(offset, Math.min(limit, total - offset))
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
})
server.keepAliveTimeout = 60_000

// A server that listens on a port has an address of that kind.
server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port))
