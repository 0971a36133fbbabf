/**
 * What is written with the official client and csv-parse: rows as they come, a thousand a call, as many calls at once as
 * the others have.
 */
import { ApiClient, ContactsApi } from "@elasticemail/elasticemail-client"
import { parse } from "csv-parse"
import { createReadStream } from "node:fs"
import { Agent } from "node:http"
import { whole } from "../src/Trial.ts"
import { apiKey, atOnce, baseUrl, file, perRequest } from "./Work.ts"

const client = new ApiClient(baseUrl)
client.authentications.apikey.apiKey = apiKey
// Without it each call would open a connection of its own.
client.requestAgent = new Agent({ keepAlive: true, maxSockets: atOnce })
const contacts = new ContactsApi(client)

type Row = Readonly<Record<"Email" | "FirstName" | "LastName" | "city", string>>

const payload = ({ city, Email, FirstName, LastName }: Row) => {
  if (!/^[^\s@]{1,64}@[a-z\d-]+(\.[a-z\d-]+)+$/i.test(Email)) throw new Error(`${Email} is no address`)
  return { Email, FirstName, LastName, CustomFields: { city } }
}

const post = (part: ReadonlyArray<ReturnType<typeof payload>>) =>
  new Promise<void>((resolve, reject) => {
    contacts.contactsPost(part, {}, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })

await whole(async () => {
  const underWay = new Set<Promise<void>>()
  let part: Array<ReturnType<typeof payload>> = []
  let rows = 0
  const flush = async () => {
    const sending = post(part).then(() => {
      underWay.delete(sending)
    })
    underWay.add(sending)
    part = []
    if (underWay.size >= atOnce) await Promise.race(underWay)
  }
  const parser = createReadStream(file).pipe(parse({ columns: true }))
  for await (const row of parser) {
    // What `columns` makes of the header of the file.
    part.push(payload(row as Row))
    rows++
    if (part.length === perRequest) await flush()
  }
  if (part.length > 0) await flush()
  await Promise.all(underWay)
  client.requestAgent?.destroy()
  return rows
})
