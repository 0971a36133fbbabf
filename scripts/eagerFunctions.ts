/**
 * Puts the functions that a start calls in parentheses. The compile cache of Node holds the code of a file as it is before the
 * file runs, without functions that are compiled at their first call; V8 compiles a function in parentheses with the file. The
 * coverage of a few runs tells which functions a start calls.
 * Gain: 22 % of the CPU time of `roster contacts get` over HTTP, 30 % embedded. Report: docs/upstream/node-compile-cache.md
 */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { type ESTree, parseSync, Visitor } from "rolldown/utils"

/** The contents of the published files by name. */
export type Files = ReadonlyMap<string, string>

const run = promisify(execFile)

const email = "ann@example.com"
const contact = JSON.stringify({ Email: email, DateAdded: "2026-01-01T00:00:00", Source: "ContactApi" })

/** Runs the program under coverage: once for help, once with a service, once with an existing store. */
const start = async (folder: string, counts: string): Promise<void> => {
  const roster = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
    run(process.execPath, [join(folder, "roster.js"), "contacts", ...args], {
      env: { HOME: folder, NODE_DISABLE_COMPILE_CACHE: "1", ...env }
    })
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(contact))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // A server on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  const db = join(folder, "roster.db")
  const counted = { NODE_V8_COVERAGE: counts }
  const service = { ...counted, ROSTER_BASE_URL: `http://127.0.0.1:${port}/v4`, ROSTER_API_KEY: "a".repeat(64) }
  try {
    await roster(["add", email, "--db", db], {})
    await Promise.all([
      roster(["ls", "--help"], counted),
      roster(["get", email], service),
      roster(["get", email, "--db", db], counted)
    ])
  } finally {
    server.close()
  }
}

/** The part of a coverage file of Node that is used here. */
interface Counts {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{
      readonly ranges: readonly [{ readonly startOffset: number; readonly count: number }]
    }>
  }>
}

/** The offsets at which called functions begin, by file name. */
const calledIn = (counts: string): ReadonlyMap<string, ReadonlySet<number>> => {
  const called = new Map<string, Set<number>>()
  for (const file of readdirSync(counts)) {
    const { result } = JSON.parse(readFileSync(join(counts, file), "utf8")) as Counts
    for (const { functions, url } of result) {
      const name = basename(url)
      const begins = called.get(name) ?? new Set()
      called.set(name, begins)
      for (const { ranges } of functions) if (ranges[0].count > 0) begins.add(ranges[0].startOffset)
    }
  }
  return called
}

/**
 * Returns the code with the called functions in parentheses. A function declaration becomes an assignment at the beginning of
 * the file, since it is hoisted. Methods cannot be put in parentheses.
 */
export const parenthesized = (code: string, called: ReadonlySet<number>): string => {
  const { program } = parseSync("chunk.js", code)
  const parentheses: Array<readonly [number, string]> = []
  const mark = ({ end, start }: ESTree.Span) => {
    if (called.has(start)) parentheses.push([start, "("], [end, ")"])
  }
  new Visitor({
    ArrowFunctionExpression: mark,
    // The function of a method begins with its parameters.
    FunctionExpression: (node) => (code[node.start] === "(" ? undefined : mark(node))
  }).visit(program)
  parentheses.sort(([one], [other]) => one - other)
  const written = ({ end, start }: ESTree.Span): string => {
    let text = ""
    let at = start
    for (const [position, parenthesis] of parentheses) {
      if (position < start || position > end) continue
      text += code.slice(at, position) + parenthesis
      at = position
    }
    return text + code.slice(at, end)
  }
  const parts = { imports: "", declared: "", rest: "" }
  for (const statement of program.body) {
    const isCalled = statement.type === "FunctionDeclaration" && called.has(statement.start)
    if (statement.type === "ImportDeclaration") parts.imports += written(statement)
    else if (isCalled && statement.id !== null) parts.declared += `var ${statement.id.name}=(${written(statement)});`
    else parts.rest += `${written(statement)}\n`
  }
  return `${parts.imports}${parts.declared}\n${parts.rest}`
}

/** Returns the files with the functions in parentheses that a start calls. */
export const withEagerFunctions = async (files: Files): Promise<Files> => {
  const folder = mkdtempSync(join(tmpdir(), "roster-starts-"))
  try {
    for (const [name, content] of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const counts = join(folder, "counts")
    await start(folder, counts)
    const called = calledIn(counts)
    return new Map(
      Array.from(files, ([name, content]) => {
        const begins = called.get(basename(name))
        return [name, begins === undefined || !name.includes("/") ? content : parenthesized(content, begins)]
      })
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
