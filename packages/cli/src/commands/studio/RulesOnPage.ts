/** Offers the saved rules of the user to the page of `roster studio`, which reads and writes them below a path. */
import { RuleName, RuleText } from "@roster/domain"
import { Effect, type FileSystem, type Path, Schema } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { removeRule, savedRules, saveRule } from "../../settings/SavedRule.ts"

const decodeName = Schema.decodeUnknownEffect(RuleName)

/** More than the longest rule. */
const maximumBody = 256n * 1024n

const refuse = (status: number, Error: string) => HttpServerResponse.jsonUnsafe({ Error }, { status })

const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, path: string) {
  const { method } = request
  const given = request.url.slice(path.length + 1)
  if (method === "GET" && given === "") return HttpServerResponse.jsonUnsafe(yield* savedRules)
  if (method === "PUT") yield* saveRule(yield* decodeName(given), yield* RuleText.fromText(yield* request.text))
  else if (method === "DELETE") yield* removeRule(yield* decodeName(given))
  else return refuse(405, "There is no such request for saved rules.")
  return HttpServerResponse.empty()
})

/** Makes what answers requests below a path. */
export const rulesOnPage = (path: string) =>
  Effect.map(Effect.context<FileSystem.FileSystem | Path.Path>(), (files) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => answer(request, path)).pipe(
      Effect.provideContext(files),
      Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumBody),
      Effect.catchTag("HttpServerError", () => Effect.succeed(refuse(400, "The request cannot be read."))),
      Effect.catch(({ message }) => Effect.succeed(refuse(409, message)))
    )
  )
