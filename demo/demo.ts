/**
 * The demo: a service on a SQLite file, and the command line talking to it over HTTP. It prints every command, so you
 * can repeat each, and ends with counts that add up, or with an error.
 */
import { strictEqual } from "node:assert/strict"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { once } from "node:events"
import { resolve } from "node:path"
import { customersCsv } from "./customers.ts"

const folder = ".demo"
const roster = "packages/cli/src/main/bin.ts"
const show = (text = "") => process.stdout.write(`${text}\n`)

interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Without the user's settings of Roster, and with the folders in which it keeps records beside the store. Each command
 * after the first finds the sources compiled.
 */
const environment = (baseUrl?: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ROSTER_"))),
  NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled"),
  XDG_CONFIG_HOME: resolve(folder, "config"),
  XDG_STATE_HOME: resolve(folder, "state"),
  ...(baseUrl === undefined ? {} : { ROSTER_BASE_URL: baseUrl })
})

/** Runs one command of the checkout. */
const run = (baseUrl: string, args: ReadonlyArray<string>): Promise<Result> =>
  new Promise((done, reject) => {
    const all = [roster, ...args, "--api-key-file", `${folder}/admin.key`]
    execFile(process.execPath, all, { env: environment(baseUrl), maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      if (typeof code === "number") done({ code, stdout, stderr })
      else reject(error)
    })
  })

const words = (text: string): ReadonlyArray<string> => text.split(" ")

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : word.includes("'") ? `"${word}"` : `'${word}'`

/** Runs a command and prints it with its output, as on a terminal. */
const step = async (baseUrl: string, title: string, args: ReadonlyArray<string>, expected = 0): Promise<Result> => {
  show(`\n# ${title}`)
  show(`$ roster ${args.map(quoted).join(" ")}`)
  const result = await run(baseUrl, [...args, "--output", "table"])
  const lines = result.stdout.split("\n").filter((line) => line !== "")
  for (const line of lines.slice(0, 16)) show(`  ${line}`)
  if (lines.length > 16) show(`  … ${lines.length - 16} more lines`)
  if (result.code !== 0) show(`  (exit ${result.code}: ${result.stderr.split("\n")[0] ?? ""})`)
  strictEqual(result.code, expected, `roster ${args.join(" ")} ended with ${result.code}:\n${result.stderr}`)
  return result
}

const json = async <A>(baseUrl: string, args: ReadonlyArray<string>, codes = [0]): Promise<A> => {
  const { code, stderr, stdout } = await run(baseUrl, [...args, "--output", "json"])
  strictEqual(codes.includes(code), true, `roster ${args.join(" ")} ended with ${code}:\n${stderr}`)
  // The caller knows which record its command prints.
  return JSON.parse(stdout) as A
}

const serve = async (): Promise<{ readonly service: ChildProcess; readonly baseUrl: string }> => {
  const args = [
    "serve",
    "--port",
    "0",
    "--db",
    `${folder}/contacts.db`,
    "--key-file",
    `${folder}/admin.key`,
    "--allow-sender",
    "*@shop.example"
  ]
  show("# A service on a SQLite file. The first start makes an administrator key and writes it to a file.")
  show(`$ roster ${args.map(quoted).join(" ")}`)
  const service = spawn(process.execPath, [roster, ...args], {
    env: environment(),
    stdio: ["ignore", "pipe", "inherit"]
  })
  for await (const line of createInterface({ input: service.stdout })) {
    show(`  ${line}`)
    const baseUrl = /^listening on (\S+)$/.exec(line)?.[1]
    if (baseUrl !== undefined) return { service, baseUrl }
  }
  throw new Error("the service did not start")
}

/** The part of an import's summary that the demo uses. */
interface ImportSummary {
  readonly read: number
  readonly done: number
  readonly rejected: number
  readonly duplicates: number
  readonly notSent: number
  readonly unknown: number
  readonly rejectedRows: ReadonlyArray<{ readonly line: number; readonly reason: string }>
}

const tour = async (baseUrl: string): Promise<void> => {
  const file = `${folder}/customers.csv`
  writeFileSync(file, customersCsv())

  show("\n# A file as shops have it: a byte order mark, quoted commas and line breaks, doubles, and a few bad rows.")
  show(`$ roster contacts import ${file} --list customers`)
  const summary = await json<ImportSummary>(baseUrl, ["contacts", "import", file, "--list", "customers"], [9])
  const { done, duplicates, notSent, read, rejected, rejectedRows, unknown } = summary
  show(
    `  read ${read} = done ${done} + rejected ${rejected} + duplicates ${duplicates} + not sent ${notSent} + unknown ${unknown}`
  )
  for (const { line, reason } of rejectedRows) show(`  line ${line}: ${reason}`)

  await step(baseUrl, "A page of them.", ["contacts", "list", "--limit", "5"])
  await step(
    baseUrl,
    "One of them, changed: what is not named stays as it is.",
    words("contacts update maria.5@shop.example --last-name Curie --field City=Paris")
  )
  await step(baseUrl, "Those that a rule selects.", [
    "contacts",
    "list",
    "--rule",
    "status = Engaged AND City contains 'köln'",
    "--limit",
    "3"
  ])

  const exported = `${folder}/engaged.csv`
  await step(baseUrl, "An export: the service prepares a file, the client waits for it and downloads it.", [
    "contacts",
    "export",
    "--rule",
    "status = Engaged",
    ...words(`--format csv --out ${exported}`)
  ])
  const engaged = readFileSync(exported, "utf8")
    .split("\r\n")
    .filter((row) => row.includes("@shop.example,")).length
  show(`  ${exported} holds ${engaged} contacts`)

  await step(baseUrl, "Whoever unsubscribed is deleted, by rule.", [
    "contacts",
    "delete",
    "--rule",
    "status = Unsubscribed",
    "--yes"
  ])
  await step(baseUrl, "A key that may read contacts and nothing else.", [
    "apikeys",
    "create",
    "reader",
    "--access",
    "ViewContacts"
  ])
  await step(baseUrl, "SMTP credentials.", ["smtp", "create", "printer@shop.example", "--expires", "90d"])
  await step(baseUrl, "The keys: a secret is shown once, when it is made.", ["apikeys", "list"])
  await step(
    baseUrl,
    "A mail from an address that nobody allowed is refused.",
    words("emails send --from ceo@bank.example --to maria.5@shop.example --subject Hello --text Hi"),
    7
  )

  const left = await json<ReadonlyArray<{ readonly Status: string }>>(baseUrl, ["contacts", "list", "--all"])
  const all = await json<ReadonlyArray<unknown>>(baseUrl, ["contacts", "export", "--format", "json"])
  const unsubscribed = done - left.length

  show("\n# The counts")
  show(`  read        ${read} rows`)
  show(`  done        ${done}`)
  show(`  rejected    ${rejected}`)
  show(`  duplicates  ${duplicates} (rows of one address become one)`)
  show(`  deleted     ${unsubscribed}`)
  show(`  listed      ${left.length}`)
  show(`  exported    ${all.length}`)
  strictEqual(done + rejected + duplicates + notSent + unknown, read, "the rows of the import do not add up")
  strictEqual(
    left.some(({ Status }) => Status === "Unsubscribed"),
    false,
    "somebody unsubscribed is left"
  )
  strictEqual(all.length, left.length, "the export and the list differ")
  strictEqual(
    engaged,
    left.filter(({ Status }) => Status === "Engaged").length,
    "the export by rule and the list differ"
  )
  show(
    `\nThe counts add up: ${read} = ${done} + ${rejected} + ${duplicates}, and ${done} - ${unsubscribed} = ${all.length}.`
  )
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const { baseUrl, service } = await serve()
try {
  await tour(baseUrl)
} finally {
  service.kill("SIGTERM")
  if (service.exitCode === null) await once(service, "exit")
}
strictEqual(service.exitCode, 0, "the service did not stop cleanly")
show(
  `Everything is in ${folder}/: the database, the key, the file, the export and the records of what was changed. \`npx -y pnpm@12.21.0 roster --help\` shows what else there is.`
)
