/** Requests to a service, as they are generated, on one connection. */
import { Effect } from "effect"
import { type Agent, request } from "node:http"
import type { KillableServe } from "../durability/KillableServe.ts"
import type { Asker } from "./Askers.ts"
import type { Sent } from "./GeneratedRequests.ts"

export interface Answer {
  /** 0 if the connection ended before an answer, as it may while a large body is refused. */
  readonly status: number
  readonly headers: string
  readonly text: string
}

export const noAnswer: Answer = { status: 0, headers: "", text: "" }

/** Bodies of more bytes are refused before they have arrived. */
const smallBody = 64 * 1024

export const makeAsk = ({ baseUrl, output }: KillableServe, agent: Agent) => {
  const { hostname, pathname, port } = new URL(baseUrl)
  return ({ body, headers, method, path }: Sent, { peer, token }: Pick<Asker, "peer" | "token">) =>
    Effect.callback<Answer>((resume) => {
      const sent = request(
        {
          hostname,
          port,
          agent,
          method,
          path: `${pathname}${path}`,
          headers: {
            ...headers,
            ...(token === undefined ? {} : { "X-Service-ApiKey": token }),
            "X-Forwarded-For": peer,
            "Content-Length": String(body.length)
          }
        },
        (response) => {
          const parts: Array<Buffer> = []
          response.on("data", (part: Buffer) => parts.push(part))
          response.on("error", (error) => resume(Effect.die(error)))
          response.on("end", () => {
            const text = Buffer.concat(parts).toString()
            resume(
              Effect.succeed({ status: response.statusCode ?? 0, headers: JSON.stringify(response.headers), text })
            )
          })
        }
      )
      sent.on("error", (error) => {
        const request = `${method} ${path.slice(0, 300)} with ${body.length} bytes: ${body.toString().slice(0, 2000)}`
        const said = `${request}\nThe service: ${output().slice(-2000)}`
        resume(body.length > smallBody ? Effect.succeed(noAnswer) : Effect.die(new Error(said, { cause: error })))
      })
      sent.end(body)
    })
}
