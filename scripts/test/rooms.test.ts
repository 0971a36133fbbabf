/**
 * A folder of a package is a room, and rooms have an order: a file imports from its own room and from those before it,
 * types and `import()` included, and no file imports itself by way of others. A folder and one within it make no circle
 * either.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The rooms of each package, from the bottom up. A folder that is not listed belongs to the listed one that it lies in. */
const rooms: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [
    "values",
    "tracing",
    "errors",
    "contacts",
    "lists",
    "credentials",
    "emails",
    "rules",
    "saved",
    "runs",
    "files",
    "kinds",
    "headings",
    "csv",
    "corrections",
    "search",
    "warnings",
    "jobs",
    "services",
    "testing",
    ""
  ],
  workflows: ["runs", "upload", "exports", "workbooks", "bulk", "changes", "words", "rotation", "access", ""],
  api: [""],
  "http-client": ["transport", "transport/undici", "calls", "services", ""],
  server: [
    "threads",
    "network",
    "metrics",
    "store/sqlite",
    "store/postgres",
    "store",
    "credentials",
    "backup",
    "runs",
    "contacts",
    "jobs/queue",
    "jobs/imports",
    "jobs/exports",
    "jobs/overview",
    "jobs/worker",
    "requests",
    "services",
    "reference",
    "studio",
    "http",
    ""
  ],
  connect: [""],
  studio: [
    "texts",
    "kit",
    "session",
    "rules",
    "contacts",
    "find",
    "plans",
    "lists",
    "imports/thread",
    "imports",
    "exports",
    "keys",
    "runs",
    "overview",
    "app",
    ""
  ],
  cli: ["terminal", "errors", "files", "settings", "target", "commands/shared", "commands", "main"],
  testing: ["properties", "layers", "simulation", "conformance", ""]
}

/** A file without its doc comments, whose examples import what they show. */
const sourceOf = (file: string): string => readFileSync(file, "utf8").replaceAll(/^ \* .*$/gm, "")

const importsOf = (file: string): ReadonlyArray<string> =>
  Array.from(sourceOf(file).matchAll(/(?:\bfrom|\bimport)[\s(]+"(\.[^"]+)"/g), ([, path = ""]) =>
    join(dirname(file), path)
  )

/**
 * The packages that each package may import. Only `connect` and `testing` may
 * import both the client and the server.
 */
const arrows: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  workflows: ["domain"],
  api: ["domain"],
  "http-client": ["domain", "api"],
  server: ["domain", "api"],
  connect: ["domain", "http-client", "server"],
  cli: ["domain", "workflows", "api", "http-client", "server", "connect"],
  studio: ["domain", "workflows", "http-client"],
  testing: ["domain", "workflows", "api", "http-client", "server", "connect"]
}

describe.each(Object.entries(arrows))("the package %s", (name, allowed) => {
  it("imports no other packages than its arrows say", () => {
    const imported = globSync(`packages/${name}/src/**/*.{ts,tsx}`).flatMap((file) =>
      Array.from(sourceOf(file).matchAll(/(?:\bfrom|\bimport)[\s(]+"@roster\/([\w/-]+)/g), ([, used = ""]) => used)
        .filter((used) => !allowed.some((one) => used === one || used.startsWith(`${one}/`)))
        .map((used) => `${file} -> ${used}`)
    )
    assert.deepStrictEqual(imported, [])
  })
})

describe.each(["index.ts", "conformance/index.ts"])("the entry %s of testing", (entry) => {
  it("reaches no test runner: programs import it too", () => {
    const reached = new Set([`packages/testing/src/${entry}`])
    // A set goes on to what is added meanwhile.
    for (const file of reached) for (const imported of importsOf(file)) reached.add(imported)
    assert.isAtLeast(reached.size, 10)
    assert.deepStrictEqual(
      [...reached].filter((file) => /\bfrom "(?:@effect\/)?vitest"/.test(sourceOf(file))),
      []
    )
  })
})

it("the conformance suite knows neither the client nor the server", () => {
  const used = globSync("packages/testing/src/conformance/**/*.ts").flatMap((file) =>
    Array.from(sourceOf(file).matchAll(/\bfrom "@roster\/([\w-]+)/g), ([, name = ""]) => name)
  )
  assert.deepStrictEqual([...new Set(used)].sort(), ["domain", "workflows"])
})

describe.each(Object.entries(rooms))("the rooms of %s", (name, order) => {
  const source = `packages/${name}/src`
  const files = new Map(globSync(`${source}/**/*.{ts,tsx}`).map((file) => [file, importsOf(file)]))
  const folder = (file: string): string => dirname(file).slice(source.length + 1)
  const floorOf = (room: string): number =>
    order.includes(room) || room === ""
      ? order.indexOf(room)
      : floorOf(room.slice(0, Math.max(0, room.lastIndexOf("/"))))
  const floor = (file: string): number => floorOf(folder(file))

  it("hold at most 15 files each", () => {
    const sizes = Object.entries(Object.groupBy(files.keys(), folder)).map(
      ([room, of = []]) => [room, of.length] as const
    )
    assert.deepStrictEqual(
      sizes.filter(([, size]) => size > 15),
      []
    )
  })

  it("import downwards", () => {
    const upwards = [...files].flatMap(([file, imports]) =>
      imports.filter((imported) => floor(imported) > floor(file) || floor(file) < 0).map((up) => `${file} -> ${up}`)
    )
    assert.deepStrictEqual(upwards, [])
  })

  it("import from a folder or are imported by it, if they lie in it", () => {
    const arrows = new Set(
      [...files].flatMap(([file, imports]) => imports.map((imported) => `${folder(file)} -> ${folder(imported)}`))
    )
    const folders = [...new Set([...files.keys()].map(folder))]
    const circles = folders.flatMap((inner) =>
      folders
        .filter((outer) => inner.startsWith(`${outer}/`))
        .filter((outer) => arrows.has(`${outer} -> ${inner}`) && arrows.has(`${inner} -> ${outer}`))
        .map((outer) => `${outer} <-> ${inner}`)
    )
    assert.deepStrictEqual(circles, [])
  })

  it("have no circle of files", () => {
    const reached = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const imported of files.get(from) ?? []) if (!seen.has(imported)) reached(imported, seen.add(imported))
      return seen
    }
    assert.deepStrictEqual(
      [...files.keys()].filter((file) => reached(file).has(file)),
      []
    )
  })
})
