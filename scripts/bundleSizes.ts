/**
 * Measures what an application ships of Roster: `pnpm sizes` prints a table and fails beyond the bounds. Each entry is
 * bundled for browsers and minified by rolldown, from the sources of the packages, and compressed by gzip.
 */
import { join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { build, VERSION } from "rolldown"

/** The level of gzip, the highest. */
export const gzipLevel = 9

/** An application as far as it imports Roster, and the size that it may have. */
interface Entry {
  readonly name: string
  readonly code: string
  /** Maximum size in bytes, minified and compressed. */
  readonly maximum: number
}

/**
 * What is measured. The client may have 5 % more than before it had settings, keys and transforms of calls (86.9 KiB), and
 * 9 KiB for ids that a simulation decides, and for what it does not believe: lost creations, doubtful answers, pages of any size, files that only look the same,
 * 2 KiB for runs, 4.5 KiB for the account, and 1 KiB for the fields of the objects that its methods and settings take.
 */
export const entries: ReadonlyArray<Entry> = [
  {
    name: "the tag alone",
    code: `import { ContactsService } from "@roster/domain"
import { Effect } from "effect"
export const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  return yield* contacts.get("ada@example.com")
})`,
    maximum: 6 * 1024
  },
  {
    name: "the whole fetch client",
    code: `import { RosterClient } from "@roster/http-client"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
export const layer = (options) => RosterClient.layer(options).pipe(Layer.provide(FetchHttpClient.layer))`,
    maximum: 111.5 * 1024
  },
  {
    name: "a Worker with the fetch client",
    code: `import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as FetchTransport from "@roster/http-client/FetchTransport"
import { Effect, Layer, Redacted } from "effect"
export default {
  async fetch(request, { ROSTER_BASE_URL: baseUrl, ROSTER_API_KEY: key }) {
    const client = RosterClient.layer({ baseUrl, apiKey: Redacted.make(key) })
    const email = new URL(request.url).searchParams.get("email") ?? ""
    const program = ContactsService.use((contacts) => contacts.get(email)).pipe(
      Effect.map(({ firstName }) => new Response(firstName)),
      Effect.catchTag("ContactNotFound", () => Effect.succeed(new Response("", { status: 404 })))
    )
    return Effect.runPromise(Effect.provide(program, client.pipe(Layer.provide(FetchTransport.layer()))))
  }
}`,
    maximum: 112 * 1024
  }
]

const checkout = resolve(import.meta.dirname, "..")

/** A bundle of an entry. */
export interface Size {
  /** What is shipped. */
  readonly text: string
  readonly minified: number
  readonly compressed: number
  /** The modules by the bytes that are left of them before minification, largest first. */
  readonly modules: ReadonlyArray<readonly [module: string, bytes: number]>
}

/** Bundles an entry from the sources of a checkout (default: this one). */
export const measure = async (
  { code }: Pick<Entry, "code">,
  { root = checkout }: { readonly root?: string } = {}
): Promise<Size> => {
  // This file does not exist, and lies in a folder whose imports are those of an application.
  const file = join(root, "examples/src/bundleSize.js")
  const { output } = await build({
    input: file,
    platform: "browser",
    logLevel: "warn",
    write: false,
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === file ? id : undefined),
        load: (id) => (id === file ? code : undefined)
      }
    ],
    output: { format: "esm", minify: true, codeSplitting: false }
  })
  const chunks = output.filter((chunk) => chunk.type === "chunk")
  const text = chunks.map((chunk) => chunk.code).join("")
  return {
    text,
    minified: Buffer.byteLength(text),
    compressed: gzipSync(text, { level: gzipLevel }).length,
    modules: chunks
      .flatMap((chunk) =>
        Object.entries(chunk.modules).map(([id, { renderedLength }]) => [id, renderedLength] as const)
      )
      .filter(([, bytes]) => bytes > 0)
      .sort(([, a], [, b]) => b - a)
  }
}

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`

const line = (text: string): unknown => process.stdout.write(`${text}\n`)

/** Prints the table; with `--modules`, also the largest parts of each bundle. */
const main = async (args: ReadonlyArray<string>): Promise<void> => {
  line(`rolldown ${VERSION}, minified, gzip level ${gzipLevel}\n`)
  line("| Entry | Minified | Compressed | At most |\n|---|---|---|---|")
  for (const entry of entries) {
    const { compressed, minified, modules } = await measure(entry)
    line(`| ${entry.name} | ${kib(minified)} | ${kib(compressed)} | ${kib(entry.maximum)} |`)
    if (compressed > entry.maximum) process.exitCode = 1
    if (!args.includes("--modules")) continue
    for (const [module, bytes] of modules.slice(0, 40)) line(`  ${bytes} ${module.replace(/.*node_modules\//, "")}`)
  }
  if (process.exitCode === 1) line("\nAn entry is larger than it may be. `pnpm sizes --modules` shows its parts.")
}

if (import.meta.main) await main(process.argv.slice(2))
