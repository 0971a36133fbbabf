/** What the references in nothing but `node:http` have in common: reading, checking and answering. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Payload } from "./Contract.ts"

type Awaitable<A> = A | Promise<A>

/** A store of contacts behind such a server. */
export interface RawStore {
  /** The account that a key belongs to. */
  readonly accountOf: (key: unknown) => Awaitable<string | undefined>
  readonly get: (account: string, email: string) => Awaitable<object | undefined>
  readonly add: (account: string, payloads: ReadonlyArray<Payload>) => Awaitable<ReadonlyArray<object>>
}

const address = /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/

const isText = (value: unknown): boolean => value === undefined || typeof value === "string"

const isPayload = (value: unknown): value is Payload => {
  if (typeof value !== "object" || value === null) return false
  // What a payload may hold, each of it looked at below.
  const { CustomFields, Email, FirstName, LastName, Status } = value as { readonly [field: string]: unknown }
  return (
    typeof Email === "string" &&
    Email.length <= 254 &&
    address.test(Email) &&
    isText(FirstName) &&
    isText(LastName) &&
    isText(Status) &&
    (CustomFields === undefined ||
      (typeof CustomFields === "object" && CustomFields !== null && Object.values(CustomFields).every(isText)))
  )
}

const areBodies = (value: unknown): value is ReadonlyArray<Payload> =>
  Array.isArray(value) && value.length <= 1000 && value.every(isPayload)

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}

const send = (response: ServerResponse, status: number, body: unknown): void => {
  const text = JSON.stringify(body)
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text)
}

const answer = async (store: RawStore, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const account = await store.accountOf(request.headers["x-service-apikey"])
  if (account === undefined) return send(response, 401, { Error: "the key is wrong" })
  const [path = ""] = (request.url ?? "").split("?", 1)
  if (request.method === "POST" && path === "/v4/contacts") {
    const payloads = await bodyOf(request)
    return areBodies(payloads)
      ? send(response, 200, await store.add(account, payloads))
      : send(response, 400, { Error: "these are no contacts" })
  }
  const email = path.startsWith("/v4/contacts/") ? decodeURIComponent(path.slice("/v4/contacts/".length)) : ""
  const contact = address.test(email) ? await store.get(account, email) : undefined
  return contact === undefined ? send(response, 404, { Error: "there is none" }) : send(response, 200, contact)
}

/** The server of a store. */
export const rawServer = (store: RawStore): Server =>
  createServer((request, response) => {
    answer(store, request, response).catch((cause: unknown) => send(response, 500, { Error: String(cause) }))
  })
