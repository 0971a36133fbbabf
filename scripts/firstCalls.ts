/**
 * Node keeps the compiled code of a file as it is when the file has just been compiled: functions that are called later are
 * compiled at every start anew. V8 compiles what stands in brackets together with what it stands in, and so do those get
 * into what is kept which a start calls. Which they are, the program tells: it is run, and Node counts.
 */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { type ESTree, parseSync, Visitor } from "rolldown/utils"

/**
 * Files by their names, as they are published.
 */
export type Files = ReadonlyMap<string, string>

const run = promisify(execFile)

const email = "ann@example.com"
const contact = JSON.stringify({ Email: email, DateAdded: "2026-01-01T00:00:00", Source: "ContactApi" })

/** Starts the program in a folder: one that parses, one that asks a service, one that works on a store that is there. */
const start = async (folder: string, counts: string): Promise<void> => {
  const roster = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
    run(process.execPath, [join(folder, "roster.js"), "contacts", ...args], {
      env: { HOME: folder, NODE_DISABLE_COMPILE_CACHE: "1", ...env }
    })
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(contact))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // A server that listens on a port has an address of that kind.
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

/** What Node writes down of a process. */
interface Counts {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{
      readonly ranges: readonly [{ readonly startOffset: number; readonly count: number }]
    }>
  }>
}

/** Where the functions begin that were called, by the names of their files. */
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
 * The code with such functions in brackets. A declared function is moved to the beginning, where it would be anyhow for
 * whoever calls it, and assigned. Methods cannot be put in brackets.
 */
export const bracketed = (code: string, called: ReadonlySet<number>): string => {
  const { program } = parseSync("chunk.js", code)
  const brackets: Array<readonly [number, string]> = []
  const mark = ({ end, start }: ESTree.Span) => {
    if (called.has(start)) brackets.push([start, "("], [end, ")"])
  }
  new Visitor({
    ArrowFunctionExpression: mark,
    // That of a method begins with its parameters.
    FunctionExpression: (node) => (code[node.start] === "(" ? undefined : mark(node))
  }).visit(program)
  brackets.sort(([one], [other]) => one - other)
  const written = ({ end, start }: ESTree.Span): string => {
    let text = ""
    let at = start
    for (const [position, bracket] of brackets) {
      if (position < start || position > end) continue
      text += code.slice(at, position) + bracket
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

/**
 * The files of the program, so that what a start calls is compiled once for all starts.
 */
export const withFirstCalls = async (files: Files): Promise<Files> => {
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
        return [name, begins === undefined || !name.includes("/") ? content : bracketed(content, begins)]
      })
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
