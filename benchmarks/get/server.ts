/** The service that is asked: one fixed contact. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { wireContact } from "../src/Records.ts"
import { listening } from "../src/Trial.ts"

const contact = Buffer.from(JSON.stringify(wireContact(0)))
const head = { "content-type": "application/json", "content-length": contact.length }

const server = createServer((_, response) => {
  response.writeHead(200, head).end(contact)
})
server.keepAliveTimeout = 60_000

// A server that listens on a port has an address of that kind.
server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port))
