/** The official client on axios, of the version that other projects use today. */
import { Configuration, ContactsApi } from "@elasticemail/elasticemail-client-ts-axios"
import { create } from "axios"
import { Agent } from "node:http"
import { steady } from "../src/Trial.ts"
import { apiKey, baseUrl, callAll } from "./Calls.ts"

// Without it each call would open a connection of its own.
const instance = create({ httpAgent: new Agent({ keepAlive: true, maxSockets: 16 }) })
// Its types ask for the axios of 2021 that it brings.
const contacts = new ContactsApi(new Configuration({ apiKey, basePath: baseUrl }), undefined, instance as never)

await steady(() => callAll(async (email) => (await contacts.contactsByEmailGet(email)).data.Email))
