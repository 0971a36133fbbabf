/** What an application ships of Roster stays within its bounds. */
import { assert, describe, it } from "@effect/vitest"
import { relative } from "node:path"
import { runInNewContext } from "node:vm"
import { entries, measure } from "../bundleSizes.ts"

/** What the programs of Workers find: the web's own, and nothing of Node. */
const web = {
  AbortController,
  AbortSignal,
  Blob,
  clearTimeout,
  crypto,
  FormData,
  Headers,
  performance,
  queueMicrotask,
  ReadableStream,
  Request,
  Response,
  setTimeout,
  TextDecoder,
  TextEncoder,
  TransformStream,
  URL,
  URLSearchParams
}

describe("the bundle of", () => {
  it.each(entries)("$name is no larger than it may be", async ({ code, maximum, name }) => {
    const { compressed, modules } = await measure({ code })
    assert.isAtMost(compressed, maximum, `${name}: run pnpm sizes --modules`)
    // An entry that imports nothing would be small too.
    assert.isTrue(modules.some(([module]) => module.includes("/effect/")))
  })

  it("the tag has no code of the domain but the tag and the names and plain values of its fields", async () => {
    const [tag] = entries
    const { modules } = await measure({ code: tag?.code ?? "" })
    const ours = modules.flatMap(([module]) => /^packages\/(.*)/.exec(relative(".", module))?.[1] ?? [])
    assert.deepStrictEqual(ours.toSorted(), [
      "domain/src/services/CheckedService.ts",
      "domain/src/services/ContactsService.ts",
      "domain/src/values/AddMode.ts",
      "domain/src/values/UnknownNames.ts"
    ])
  })

  it("a Worker runs where there is nothing of Node", async () => {
    const [{ text } = { text: "" }] = await Promise.all(
      entries.filter(({ name }) => name.startsWith("a Worker")).map((entry) => measure(entry))
    )
    const asked: Array<Request> = []
    const fetch = async (input: string | URL, init: RequestInit) => {
      const request = new Request(input, init)
      asked.push(request)
      if (!request.url.includes("ada")) return Response.json({ Error: "not found" }, { status: 404 })
      return Response.json({ Email: "ada@example.com", FirstName: "Ada", DateAdded: "2026-01-01T00:00:00" })
    }
    // A script has neither `import.meta` nor exports, and shares its names with what Node may declare, such as `gc`.
    const code = text
      .replaceAll("import.meta", "({})")
      .replace(/export\s*\{\s*([\w$]+) as default\s*\};?\s*$/, "return $1")
    const worker: unknown = runInNewContext(`(() => {${code}})()`, { ...web, fetch })
    const get = (email: string): Promise<Response> =>
      Object(worker).fetch(new Request(`https://worker.example/?email=${email}`), {
        ROSTER_BASE_URL: "https://roster.example/v4",
        ROSTER_API_KEY: "a".repeat(64)
      })
    assert.strictEqual(await (await get("ada@example.com")).text(), "Ada")
    assert.strictEqual((await get("bob@example.com")).status, 404)
    assert.deepStrictEqual(
      asked.map(({ headers, url }) => [url, headers.get("x-service-apikey")]),
      ["ada", "bob"].map((name) => [`https://roster.example/v4/contacts/${name}%40example.com`, "a".repeat(64)])
    )
  })
})
