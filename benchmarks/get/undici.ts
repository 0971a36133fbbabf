/** The reference: a request, its text, its JSON, and nothing else. */
import { Agent, request, setGlobalDispatcher } from "undici"
import { steady } from "../src/Trial.ts"
import { apiKey, baseUrl, callAll } from "./Calls.ts"

// As many connections as the client of Roster has.
setGlobalDispatcher(new Agent({ connections: 16 }))

const headers = { "x-service-apikey": apiKey, accept: "application/json" }

const get = async (email: string) => {
  const { body, statusCode } = await request(`${baseUrl}/contacts/${encodeURIComponent(email)}`, { headers })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`status ${statusCode}`)
  // What the server sends.
  return (JSON.parse(text) as { readonly Email: string }).Email
}

await steady(() => callAll(get))
