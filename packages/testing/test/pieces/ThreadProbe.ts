/**
 * Measures the CPU of the main thread of a process by turns of its event loop, of which others wait for the longest. Loaded by
 * `--import` before a program, it says where it listens: `/start` begins, and `/stop` gives the longest turn in milliseconds.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { isMainThread } from "node:worker_threads"

/** The CPU of this thread, in milliseconds. */
const used = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

if (isMainThread) {
  let isMeasuring = false
  let longest = 0
  let before = 0
  const turn = (): void => {
    const now = used()
    longest = Math.max(longest, now - before)
    before = now
    if (isMeasuring) setImmediate(turn)
  }
  const server = createServer(({ url }, response) => {
    isMeasuring = url === "/start"
    if (isMeasuring) {
      longest = 0
      before = used()
      setImmediate(turn)
    } else turn()
    response.setHeader("Connection", "close").end(String(longest))
  })
  server.listen(0, "127.0.0.1", () => {
    // A server with a port has such an address.
    process.stderr.write(`probe on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  })
  server.unref()
}
