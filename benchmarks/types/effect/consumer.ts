/** A program of 30 lines that does the same by hand: its own schema and HTTP calls, on Effect alone. */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, DateTime, Effect, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

const Contact = Schema.Struct({
  Email: Schema.String,
  Status: Schema.optionalKey(Schema.Literals(["Active", "Engaged", "Unsubscribed"])),
  FirstName: Schema.optionalKey(Schema.String)
})

const program = Effect.gen(function* () {
  const key = yield* Config.Redacted("ROSTER_API_KEY")
  const base = yield* Config.String("ROSTER_BASE_URL")
  const prepared = HttpClient.mapRequest((request) =>
    HttpClientRequest.setHeader(HttpClientRequest.prependUrl(request, base), "X-Service-ApiKey", Redacted.value(key))
  )
  const client = HttpClient.filterStatusOk(prepared(yield* HttpClient.HttpClient))
  const since = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days: 7 })).slice(0, 10)
  const answer = yield* client.get("/contacts", { urlParams: { rule: `dateadded > '${since}'` } })
  const newest = yield* HttpClientResponse.schemaBodyJson(Schema.Array(Contact))(answer)
  yield* Effect.forEach(newest, ({ Email, Status = "Active" }) => Console.log(`${Email} ${Status}`))
  const added = Stream.make("ada@example.com", "bob@example.com").pipe(
    Stream.mapEffect((Email) =>
      Effect.flatMap(HttpClientRequest.bodyJson(HttpClientRequest.post("/contacts"), [{ Email }]), client.execute)
    )
  )
  yield* Stream.runForEach(added, ({ status }) => Console.log(`${status}`))
})

NodeRuntime.runMain(Effect.provide(program, FetchHttpClient.layer))
