/** The reference: `node:http` and `node:sqlite`, with nothing between. */
import type { AddressInfo } from "node:net"
import { listening } from "../src/Trial.ts"
import { openStore } from "./Contract.ts"
import { rawServer } from "./rawServer.ts"

const server = rawServer(openStore())

// A server that listens on a port has an address of that kind.
server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port))
