/** Fastify on the same statements: bodies validated and answers written by JSON Schema. */
import fastify, { type FastifyRequest } from "fastify"
import type { AddressInfo } from "node:net"
import { listening } from "../src/Trial.ts"
import { openStore, type Payload } from "./Contract.ts"

const store = openStore()

const text = { type: "string" }
const time = { type: ["string", "null"] }
const count = { type: "integer" }
const customFields = { type: "object", additionalProperties: text }
const email = { type: "string", maxLength: 254, pattern: "^[^\\s@]{1,64}@[^\\s@.]+(?:\\.[^\\s@.]+)*$" }

const contact = {
  type: "object",
  properties: {
    Email: text,
    Status: text,
    FirstName: text,
    LastName: text,
    CustomFields: customFields,
    Consent: { type: "object", properties: { ConsentIP: text, ConsentDate: text, ConsentTracking: text } },
    Source: text,
    DateAdded: text,
    DateUpdated: time,
    StatusChangeDate: time,
    Activity: {
      type: "object",
      properties: {
        TotalSent: count,
        TotalOpened: count,
        TotalClicked: count,
        TotalFailed: count,
        LastSent: time,
        LastOpened: time,
        LastClicked: time,
        LastFailed: time,
        LastIP: text,
        ErrorCode: { type: ["integer", "null"] },
        FriendlyErrorMessage: text
      }
    }
  }
}

const payloads = {
  type: "array",
  maxItems: 1000,
  items: {
    type: "object",
    required: ["Email"],
    properties: { Email: email, Status: text, FirstName: text, LastName: text, CustomFields: customFields }
  }
}

const app = fastify({ logger: false, bodyLimit: 32 * 1024 * 1024 })

const accounts = new WeakMap<FastifyRequest, string>()

app.addHook("onRequest", (request, reply, next) => {
  const account = store.accountOf(request.headers["x-service-apikey"])
  if (account === undefined) return reply.code(401).send({ Error: "the key is wrong" })
  accounts.set(request, account)
  return next()
})

const accountOf = (request: FastifyRequest): string => accounts.get(request) ?? ""

app.get<{ readonly Params: { readonly email: string } }>(
  "/v4/contacts/:email",
  {
    schema: {
      params: { type: "object", properties: { email } },
      response: { 200: contact }
    }
  },
  (request, reply) => {
    const found = store.get(accountOf(request), request.params.email)
    return found === undefined ? reply.code(404).send({ Error: "there is none" }) : reply.send(found)
  }
)

app.post<{ readonly Body: ReadonlyArray<Payload> }>(
  "/v4/contacts",
  { schema: { body: payloads, response: { 200: { type: "array", items: contact } } } },
  (request, reply) => reply.send(store.add(accountOf(request), request.body))
)

await app.listen({ port: 0, host: "127.0.0.1" })
// A server that listens on a port has an address of that kind.
listening((app.server.address() as AddressInfo).port)
