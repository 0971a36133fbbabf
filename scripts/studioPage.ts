/** Bundles the page of `packages/studio` into files for browsers: `index.html`, and `assets` with names that change with their content. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { build } from "rolldown"

const source = "packages/studio"

/** The name of a file with the digest of its content, which browsers keep for ever. */
const hashed = (name: string, content: string): string => {
  const digest = createHash("sha256").update(content).digest("base64url").slice(0, 10)
  return name.replace(/(\.\w+)$/, `.${digest}$1`)
}

/** The files that rolldown makes of an entry. `defined` are names in the source with the code that stands for each. */
const bundled = async (input: Readonly<Record<string, string>>, defined: Readonly<Record<string, string>> = {}) => {
  const { output } = await build({
    input,
    platform: "browser",
    logLevel: "warn",
    transform: {
      target: "es2024",
      jsx: "react-jsx",
      define: { "process.env.NODE_ENV": '"production"', ...defined }
    },
    write: false,
    output: {
      format: "esm",
      minify: true,
      entryFileNames: "assets/[name].[hash].js",
      chunkFileNames: "assets/[name].[hash].js",
      // In one file they compress better.
      codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] }
    }
  })
  return output.filter((chunk) => chunk.type === "chunk")
}

/** A chunk and those that it imports, which a browser loads before it runs. */
const withImports = (fileName: string, chunks: Awaited<ReturnType<typeof bundled>>): ReadonlyArray<string> => {
  const names = new Set([fileName])
  // A set goes on to what is added meanwhile.
  for (const name of names)
    for (const used of chunks.find((one) => one.fileName === name)?.imports ?? []) names.add(used)
  return [...names]
}

/** The files of the page by their paths, which of them a browser loads at first, and the modules that they contain. */
export const studioPage = async (): Promise<{
  readonly files: ReadonlyMap<string, string>
  readonly first: ReadonlyArray<string>
  readonly modules: ReadonlyArray<string>
}> => {
  // On its own, so that the page does not wait for what only the worker needs.
  const worker = await bundled({ importWorker: `${source}/src/imports/thread/ImportWorker.ts` })
  const workerFile = worker.find(({ isEntry }) => isEntry)?.fileName ?? ""
  const page = await bundled(
    { main: `${source}/src/main.tsx` },
    { IMPORT_WORKER: JSON.stringify(workerFile.replace("assets/", "")) }
  )
  const files = new Map<string, string>()
  const chunks = [...page, ...worker]
  for (const { code, fileName } of chunks) files.set(fileName, code)
  const style = readFileSync(`${source}/style.css`, "utf8")
  const styleFile = `assets/${hashed("style.css", style)}`
  files.set(styleFile, style)
  const main = page.find(({ isEntry }) => isEntry)?.fileName ?? ""
  const html = readFileSync(`${source}/index.html`, "utf8").replace("style.css", styleFile).replace("main.js", main)
  files.set("index.html", html)
  return { files, first: withImports(main, page), modules: chunks.flatMap(({ moduleIds }) => moduleIds) }
}
