/** A service that has one API key, and answers its creation as it is told. */
import { idempotencyHonoured } from "@roster/api"
import { canary } from "./Canary.ts"
import { credentialNames } from "./EveryOperation.ts"
import type { LedgerRequest } from "./server/FaultLedger.ts"
import { respond, type Script } from "./server/FaultScript.ts"

const { apiKey } = credentialNames

const error = (text: string) => JSON.stringify({ Error: text })

/**
 * Makes the key that it is asked for, and answers creations by `spoil` where that gives a script. With `isHonoured` it
 * honours idempotency keys: the same creation gives the key another token.
 */
export const keyService = (isHonoured: boolean, spoil: (creation: number, answer: string) => Script | undefined) => {
  const tokens = new Map<string, string>()
  const headers = isHonoured ? { [idempotencyHonoured.name]: idempotencyHonoured.value } : {}
  const record = { Name: apiKey, AccessLevel: ["ViewContacts"] }
  let call: string | undefined
  let creations = 0
  let deletions = 0
  const requests = (request: LedgerRequest): Script => {
    const answer = (status: number, body?: string) => [
      respond({ status, headers, ...(body === undefined ? {} : { body }) })
    ]
    const wanted = decodeURIComponent(request.path.split("/")[4] ?? "")
    if (request.method === "POST") {
      const key = request.headers["idempotency-key"]
      creations++
      if (tokens.has(apiKey) && !(isHonoured && key === call))
        return answer(409, error(`The name "${apiKey}" is taken.`))
      call = key
      const token = `${canary.token}-${creations}`
      tokens.set(apiKey, token)
      const made = JSON.stringify({ ...record, Token: token })
      return spoil(creations, made) ?? answer(201, made)
    }
    if (request.method === "DELETE") deletions++
    if (!tokens.has(wanted)) return answer(404, error(`There is no credential "${wanted}".`))
    if (request.method === "DELETE") tokens.delete(wanted)
    return request.method === "DELETE" ? answer(200) : answer(200, JSON.stringify(record))
  }
  return { requests, token: () => tokens.get(apiKey), creations: () => creations, deletions: () => deletions }
}
