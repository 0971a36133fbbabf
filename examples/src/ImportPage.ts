/**
 * A page that takes a CSV file and shows how far its import is. The import goes on in the background, also when the page is
 * closed; it ends with the application.
 */
import { ContactsService, readContacts } from "@roster/domain"
import { importContacts, RunLog } from "@roster/workflows"
import { ByteSize, Effect, Stream } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

/** The largest file that the page takes, which is kept in memory while it is imported. */
export const maximumFile = ByteSize.fromInputUnsafe("10 MiB")

/** The number of imports whose results are remembered, the latest ones. */
export const maximumImports = 100

/** How far an import is, for the page. */
type State =
  | { readonly state: "running"; readonly done: number; readonly of: number | null }
  | { readonly state: "done"; readonly done: number; readonly rejected: ReadonlyArray<string> }
  | { readonly state: "failed"; readonly reason: string }

const running = (done: number, of: number | null): State => ({ state: "running", done, of })

const page = `<!doctype html>
<title>Import contacts</title>
<input type="file" accept=".csv"><progress value="0"></progress><pre></pre>
<script type="module">
  const [input, bar, text] = ["input", "progress", "pre"].map((name) => document.querySelector(name))
  input.onchange = async () => {
    const { headers, ok } = await fetch("/imports", { method: "POST", body: input.files[0] })
    if (!ok) return (text.textContent = "This file is too large.")
    for (let state = "running"; state === "running"; ) {
      const now = await (await fetch(headers.get("location"))).json()
      state = now.state
      bar.max = now.of ?? 1
      bar.value = now.done ?? 0
      text.textContent = JSON.stringify(now, null, 2)
      await new Promise((resume) => setTimeout(resume, 500))
    }
  }
</script>`

/** The routes of the page, on whatever provides the contacts and the log of runs. */
export const importPage = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const contacts = yield* ContactsService
    const log = yield* RunLog
    const scope = yield* Effect.scope
    const imports = new Map<string, State>()
    /** Notes how far an import is, unless it is forgotten. */
    const note = (id: string, state: State) =>
      Effect.sync(() => {
        if (imports.has(id)) imports.set(id, state)
      })

    const run = (id: string, file: Uint8Array) =>
      importContacts(readContacts(Stream.make(file)), {
        onProgress: (done, sendable) => note(id, running(done, sendable))
      }).pipe(
        Effect.map(({ done, rejectedRows }): State => ({
          state: "done",
          done,
          rejected: rejectedRows.map(({ line, reason }) => `line ${line}: ${reason}`)
        })),
        Effect.catch(({ message }) => Effect.succeed<State>({ state: "failed", reason: message })),
        Effect.flatMap((state) => note(id, state)),
        Effect.provideService(ContactsService, contacts),
        Effect.provideService(RunLog, log)
      )

    const start = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const file = new Uint8Array(yield* request.arrayBuffer)
      const id = crypto.randomUUID()
      imports.set(id, running(0, null))
      const [oldest] = imports.keys()
      if (imports.size > maximumImports && oldest !== undefined) imports.delete(oldest)
      yield* Effect.forkIn(run(id, file), scope)
      return HttpServerResponse.empty({ status: 202, headers: { location: `/imports/${id}` } })
    }).pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, maximumFile),
      Effect.catchTag("HttpServerError", () => Effect.succeed(HttpServerResponse.empty({ status: 413 })))
    )

    const show = Effect.map(HttpRouter.params, ({ id = "" }) => {
      const state = imports.get(id)
      return state === undefined ? HttpServerResponse.empty({ status: 404 }) : HttpServerResponse.jsonUnsafe(state)
    })

    yield* router.add("GET", "/", HttpServerResponse.html(page))
    yield* router.add("POST", "/imports", start)
    yield* router.add("GET", "/imports/:id", show)
  })
)
