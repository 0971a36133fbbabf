/** The service that is sent to: reads every body to its end, counts, and answers with a fixed list. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { wireContact } from "../src/Records.ts"
import { argument, listening } from "../src/Trial.ts"

const delay = Number(argument("delay"))
const contacts = Array.from({ length: Number(argument("answer")) }, (_, index) => wireContact(index))
const answer = Buffer.from(JSON.stringify(contacts))
const head = { "content-type": "application/json", "content-length": answer.length }

let bodies = 0
let bytes = 0

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.end(JSON.stringify({ bodies, bytes }))
    bodies = 0
    bytes = 0
    return
  }
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
  })
  request.on("end", () => {
    bodies++
    if (delay === 0) response.writeHead(200, head).end(answer)
    else setTimeout(() => response.writeHead(200, head).end(answer), delay)
  })
})
server.keepAliveTimeout = 60_000

// A server that listens on a port has an address of that kind.
server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port))
