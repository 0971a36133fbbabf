/** Asks a server over 32 connections, as cheaply as a socket allows, and says what the calls cost it. */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { person, wirePayload } from "../src/Records.ts"
import { argument, type Figure } from "../src/Trial.ts"
import { cpuOf, peakOf } from "../src/Usage.ts"

const connections = 32

const url = new URL(argument("url"))
const pid = Number(argument("pid"))
const key = readFileSync(argument("key-file"), "utf8").trim()
/** What is asked for: `one` contact, a `page` of 1000, or to `add` contacts. */
const call = argument("call")
/** How many contacts a call adds. */
const size = Number(argument("size"))
const calls = Number(argument("calls"))
const known = Number(argument("known"))
/** Where the contacts to add begin among all that there are. */
const from = Number(argument("from"))
/** Where a page begins, or -1 for pages from everywhere. */
const offset = Number(argument("offset"))
const isKeyed = argument("keyed") === "yes"

const head = (method: string, path: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: ${url.host}\r\nX-Service-ApiKey: ${key}\r\nAccept: application/json\r\n`

const getOne = (index: number): Buffer =>
  Buffer.from(`${head("GET", `/v4/contacts/${encodeURIComponent(person(index % known).email)}`)}\r\n`)

const pageSize = 1000

/** Pages in no order, each as often as the others. */
const page = (index: number): Buffer => {
  const at = offset < 0 ? ((index * 7919) % (known / pageSize)) * pageSize : offset
  return Buffer.from(`${head("GET", `/v4/contacts?limit=${pageSize}&offset=${at}`)}\r\n`)
}

const add = (index: number): Buffer => {
  const first = from + index * size
  const body = Buffer.from(JSON.stringify(Array.from({ length: size }, (_, i) => wirePayload(first + i))))
  const once = isKeyed ? `Idempotency-Key: ${randomUUID()}\r\n` : ""
  return Buffer.concat([
    Buffer.from(
      `${head("POST", "/v4/contacts")}${once}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    ),
    body
  ])
}

/** How many bytes an answer has whose beginning this is, or `undefined` where its head is not here yet. */
const lengthOf = (start: Buffer): number | undefined => {
  const end = start.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const text = start.toString("latin1", 0, end)
  if (!text.startsWith("HTTP/1.1 200")) throw new Error(`the server answered ${start.toString()}`)
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${text}`)
  return end + 4 + Number(length)
}

/** One call after another on a connection, for as long as there is one to make. */
const drive = (socket: Socket, next: () => Buffer | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    let wanted: number | undefined
    let received = 0
    let beginning: Buffer | undefined
    const ask = () => {
      const request = next()
      if (request === undefined) resolve()
      else socket.write(request)
    }
    socket.on("error", reject)
    socket.on("close", () => reject(new Error("the server closed a connection")))
    socket.on("data", (chunk: Buffer) => {
      received += chunk.length
      if (wanted === undefined) {
        beginning = beginning === undefined ? chunk : Buffer.concat([beginning, chunk])
        wanted = lengthOf(beginning)
      }
      if (received !== wanted) return
      wanted = undefined
      beginning = undefined
      received = 0
      ask()
    })
    ask()
  })

const sockets = await Promise.all(
  Array.from(
    { length: connections },
    () =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect(Number(url.port), url.hostname, () => resolve(socket.setNoDelay()))
        socket.on("error", reject)
      })
  )
)

const run = async (requests: ReadonlyArray<Buffer>): Promise<void> => {
  let sent = 0
  await Promise.all(
    sockets.map((socket) =>
      drive(
        socket.removeAllListeners("data").removeAllListeners("close").removeAllListeners("error"),
        () => requests[sent++]
      )
    )
  )
}

const make = call === "one" ? getOne : call === "page" ? page : add
const requests = Array.from({ length: calls }, (_, index) => make(index))
const warm = Math.ceil(calls / 4)
await run(requests.slice(0, warm))
const measured = requests.slice(warm)
const before = { at: performance.now(), cpu: cpuOf(pid) }
await run(measured)
const figure: Figure = {
  units: measured.length,
  seconds: (performance.now() - before.at) / 1000,
  cpuSeconds: cpuOf(pid) - before.cpu,
  peakMiB: peakOf(pid)
}
process.stdout.write(`${JSON.stringify(figure)}\n`)
// `process.exit` has been seen to wait for a lock of Node for ever.
for (const socket of sockets) socket.removeAllListeners().destroy()
