/**
 * The reference: a page after the other, its records as they come, a line for each. It looks at nothing, and does not
 * notice when contacts move meanwhile.
 */
import { createWriteStream } from "node:fs"
import { once } from "node:events"
import { Agent, request } from "undici"
import { argument, whole } from "../src/Trial.ts"

const baseUrl = argument("url")
const headers = { "x-service-apikey": "a".repeat(64), accept: "application/json" }
const dispatcher = new Agent({ connections: 1 })
const output = createWriteStream(argument("output"))

await whole(async () => {
  let offset = 0
  for (;;) {
    const { body, statusCode } = await request(`${baseUrl}/contacts?limit=1000&offset=${offset}`, {
      dispatcher,
      headers
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`status ${statusCode}`)
    // What the server sends.
    const page = JSON.parse(text) as ReadonlyArray<unknown>
    if (page.length === 0) break
    offset += page.length
    let lines = ""
    for (const record of page) lines += `${JSON.stringify(record)}\n`
    if (!output.write(lines)) await once(output, "drain")
  }
  output.end()
  await once(output, "finish")
  return offset
})
