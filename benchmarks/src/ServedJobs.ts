/** Imports and exports of `roster serve`, as its clients ask for them. */
import { createReadStream, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { Readable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { request } from "undici"
import { csvFile } from "./Records.ts"
import { ask, type Served } from "./Served.ts"

const boundary = "roster-benchmark"

/** Sends a CSV file to import. */
export const upload = async ({ dispatcher, headers, url }: Served, file: string) => {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="contacts.csv"\r\n\r\n`
  const tail = `\r\n--${boundary}--\r\n`
  const body = async function* () {
    yield head
    yield* createReadStream(file, { highWaterMark: 256 * 1024 })
    yield tail
  }
  const answer = await request(`${url}/contacts/import`, {
    dispatcher,
    method: "POST",
    headers: {
      ...headers,
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length + statSync(file).size + tail.length)
    },
    body: Readable.from(body())
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 202) throw new Error(`the import was answered with ${answer.statusCode}: ${text}`)
}

/** Waits for the newest job. Over HTTP nobody can ask about an import, so the store is looked at. */
const untilReady = async (store: DatabaseSync, rows: number) => {
  const newest = store.prepare("SELECT state, accepted, problem FROM jobs ORDER BY number DESC LIMIT 1")
  while (true) {
    const { accepted, problem, state } = newest.get() ?? {}
    if (state === "Error") throw new Error(`the import failed: ${String(problem)}`)
    if (state === "Ready") {
      if (accepted !== rows) throw new Error(`${String(accepted)} rows were accepted, and not ${rows}`)
      return
    }
    await setTimeout(20)
  }
}

/** Imports so many rows into a store in a file. */
export const importFile = async (served: Served, rows: number) => {
  using store = new DatabaseSync(served.filename, { readOnly: true })
  await upload(served, csvFile(rows))
  await untilReady(store, rows)
}

/** Asks for an export, and gives the link of its file once it is ready. */
export const askForExport = async (served: Served, format: string, compression: string) => {
  const text = await ask(served, "POST", `/contacts/export?fileFormat=${format}&compressionFormat=${compression}`)
  // What the interface answers.
  const { Link: link, PublicExportID: id } = JSON.parse(text) as {
    readonly Link: string
    readonly PublicExportID: string
  }
  while (true) {
    const status = JSON.parse(await ask(served, "GET", `/contacts/export/${id}/status`)) as unknown
    if (status === "Ready") return link
    if (status !== "Loading") throw new Error(`the export ended as ${String(status)}`)
    await setTimeout(20)
  }
}

/** The length of a file, by its first bytes alone. */
export const lengthOf = async ({ dispatcher }: Served, link: string) => {
  const { body, headers, statusCode } = await request(link, { dispatcher })
  body.destroy()
  if (statusCode !== 200) throw new Error(`the file is answered with ${statusCode}`)
  return Number(headers["content-length"])
}
