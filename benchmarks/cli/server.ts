/** The service that the started commands ask: one fixed answer. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { wireContact } from "../src/Records.ts"
import { listening } from "../src/Trial.ts"

const contact = Buffer.from(JSON.stringify(wireContact(0)))

const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": contact.length }).end(contact)
})

// A server that listens on a port has an address of that kind.
server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port))
