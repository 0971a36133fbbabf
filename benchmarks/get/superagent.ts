/** The official client for JavaScript, on superagent. */
import { ApiClient, ContactsApi } from "@elasticemail/elasticemail-client"
import { Agent } from "node:http"
import { steady } from "../src/Trial.ts"
import { apiKey, baseUrl, callAll } from "./Calls.ts"

const client = new ApiClient(baseUrl)
client.authentications.apikey.apiKey = apiKey
// Without it each call would open a connection of its own.
client.requestAgent = new Agent({ keepAlive: true, maxSockets: 16 })
const contacts = new ContactsApi(client)

const get = (email: string): Promise<string> =>
  new Promise((resolve, reject) => {
    contacts.contactsByEmailGet(email, (error, data) => {
      if (error === null) resolve(data.Email)
      else reject(error)
    })
  })

await steady(() => callAll(get))
