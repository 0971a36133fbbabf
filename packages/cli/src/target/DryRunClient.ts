/**
 * The HTTP client of `--dry-run`: it sends requests that only read, and ends the command at the first other one. What that
 * one would be refused for is looked up first, as far as reading tells, so that a dry run ends as the run would.
 */
import { refusalTexts } from "@roster/api"
import { NameTaken } from "@roster/domain"
import { Effect, Option, Predicate, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse, UrlParams } from "effect/http"
import { addressOf } from "./RequestAddress.ts"
import { type DryRunRequest, endDryRun } from "../terminal/DryRun.ts"
import { Output } from "../terminal/Output.ts"
import * as Results from "../terminal/Results.ts"

/** Whether a request changes something. An export and a look-up do not, and neither do changes that are only judged. */
const changes = ({ method, url, urlParams }: HttpClientRequest.HttpClientRequest): boolean => {
  const { pathname } = new URL(url)
  const isJudged =
    pathname.endsWith("/contacts/changes") && Option.contains(UrlParams.getFirst(urlParams, "dryRun"), "true")
  return method !== "GET" && !isJudged && !/\/contacts\/(?:export|lookup)$/.test(pathname)
}

const bodyText = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag === "Empty" ? "" : "(a file)"

/** What the body of a credential names. */
const Named = Schema.fromJsonString(
  Schema.Struct({ Name: Schema.String, Subaccount: Schema.optionalKey(Schema.NullOr(Schema.String)) })
)
const decodeNamed = Schema.decodeUnknownOption(Named)

/** Whether there has to be something at the address. The command itself has read a credential that it changes. */
const needsResource = ({ method, url }: HttpClientRequest.HttpClientRequest): boolean =>
  method === "DELETE" || (method === "PUT" && new URL(url).pathname.includes("/contacts/"))

/** The address of what must not be there yet: the new name of a credential. */
const taken = (
  request: HttpClientRequest.HttpClientRequest
): { readonly name: string; readonly url: URL } | undefined => {
  const url = new URL(request.url)
  const [, collection = "", current] = /^(.*\/security\/(?:apikeys|smtp))(?:\/([^/]*))?$/.exec(url.pathname) ?? []
  const body = Option.getOrUndefined(decodeNamed(bodyText(request)))
  if (collection === "" || request.method === "DELETE" || body === undefined) return undefined
  if (current !== undefined && decodeURIComponent(current) === body.Name) return undefined
  url.pathname = `${collection}/${encodeURIComponent(body.Name)}`
  if (Predicate.isString(body.Subaccount)) url.searchParams.set("subaccount", body.Subaccount)
  return { name: body.Name, url }
}

/** The address that any key may read, or be refused at. */
const anyContact = (url: string): string => url.replace(/(\/v4)\/.*$/, "$1/contacts?limit=1")

/** Whether an answer says that the run would not get through, whatever it asks. A level to read is not one to write. */
const isObstacle = ({ status }: HttpClientResponse.HttpClientResponse): boolean =>
  status === 401 || status === 429 || status >= 500

/** The answer that the run would get in place of success, as far as requests that read can tell. */
const refusal = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest
) {
  const { headers, urlParams } = request
  const read = (url: string) => client.execute(HttpClientRequest.get(url, { headers }))
  if (needsResource(request)) {
    const answer = yield* client.execute(HttpClientRequest.get(request.url, { headers, urlParams }))
    return answer.status === 404 || isObstacle(answer) ? answer : undefined
  }
  const name = taken(request)
  const answer = yield* read(name === undefined ? anyContact(request.url) : name.url.href)
  if (isObstacle(answer)) return answer
  if (name === undefined || answer.status !== 200) return undefined
  const text = refusalTexts.NameTaken.print(new NameTaken({ name: name.name }))
  return HttpClientResponse.fromWeb(request, Response.json({ Error: text }, { status: 409 }))
})

/** Wraps a client. */
export const dryRunClient = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (answer, request) =>
    changes(request)
      ? Effect.filterOrElse(refusal(client, request), Predicate.isNotUndefined, () =>
          endDryRun(request.method, addressOf(request).href, bodyText(request))
        )
      : answer
  )

/** Shows the request that was not sent, without headers, since one of them is the key. */
export const showRequest = Effect.fnUntraced(function* ({ body, method, url }: DryRunRequest) {
  yield* Results.summary({ dryRun: true, method, url, body }, `${method} ${url}${body === "" ? "" : `\n${body}`}`)
  yield* (yield* Output).note("Nothing was changed.")
})
