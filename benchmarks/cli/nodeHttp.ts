/** The reference of one request: a script that asks for a contact and prints it, and looks at nothing. */
import { request } from "node:http"

const [, , email = ""] = process.argv
const { ROSTER_API_KEY: key = "", ROSTER_BASE_URL: baseUrl = "" } = process.env

const asked = request(
  `${baseUrl}/contacts/${encodeURIComponent(email)}`,
  { headers: { "X-Service-ApiKey": key, accept: "application/json" } },
  (response) => {
    const parts: Array<Buffer> = []
    response.on("data", (part: Buffer) => parts.push(part))
    response.on("end", () => {
      const contact: unknown = JSON.parse(Buffer.concat(parts).toString())
      process.stdout.write(`${JSON.stringify(contact, null, 2)}\n`)
    })
  }
)
asked.end()
