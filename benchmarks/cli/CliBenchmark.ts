import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type Benchmark, claimRatio } from "../src/Benchmark.ts"
import { bundle } from "../src/Bundle.ts"
import { compare } from "../src/Comparison.ts"
import { built, roster } from "../src/Files.ts"
import { csvFile, person } from "../src/Records.ts"
import { command, server } from "../src/Variant.ts"

const node = process.execPath

/** A user of its own, who has no profile and has started each command before. */
const env = {
  HOME: join(built, "home"),
  XDG_CONFIG_HOME: "",
  XDG_CACHE_HOME: "",
  XDG_DATA_HOME: "",
  XDG_STATE_HOME: ""
}

const size = 1_000_000

/** A store of so many contacts, imported once and kept. */
const storeFile = Effect.sync(() => {
  const path = join(built, "data", `store-${size}.db`)
  if (existsSync(path)) return path
  const part = `${path}.part`
  for (const file of [part, `${part}-wal`, `${part}-shm`]) rmSync(file, { force: true })
  const imported = spawnSync(node, [roster, "contacts", "import", csvFile(size), "--no-record", "--db", part], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"]
  })
  if (imported.status !== 0) throw new Error(`the store was not filled: ${imported.status}`)
  renameSync(part, path)
  return path
})

const run = Effect.gen(function* () {
  mkdirSync(env.HOME, { recursive: true })
  const script = yield* bundle(join(import.meta.dirname, "nodeHttp.ts"))
  const store = yield* storeFile
  const { url } = yield* server(new URL("server.ts", import.meta.url))
  const remote = { ...env, ROSTER_BASE_URL: `${url}/v4`, ROSTER_API_KEY: "a".repeat(64) }
  const { email } = person(size / 2)
  const starts = [
    command("node -e 0", [node, "-e", "0"], { env }),
    command("roster --version", [node, roster, "--version"], { env }),
    command("roster contacts list --help", [node, roster, "contacts", "list", "--help"], { env }),
    command("roster contacts ls --help, parsed", [node, roster, "contacts", "ls", "--help"], { env }),
    command("roster contacts get, 10^6 contacts embedded", [node, roster, "contacts", "get", email, "--db", store], {
      env
    })
  ]
  const requests = [
    command("node:http script", [node, script, email], { env: remote }),
    command("roster contacts get, over HTTP", [node, roster, "contacts", "get", email], { env: remote })
  ]
  // Whoever measures a start has started the command before: what it keeps between starts is there.
  yield* compare([...starts, ...requests], { rounds: 1 })
  const started = yield* compare(starts)
  const requested = yield* compare(requests)
  const claim = (name: string, atMost: number) =>
    claimRatio(`\`${name}\`, time of \`node -e 0\``, started, "time", name, "node -e 0", { atMost })
  return {
    tables: [
      { title: "starts", unit: "start", reference: "node -e 0", runs: started },
      { title: "one real request", unit: "start", reference: "node:http script", runs: requested }
    ],
    claims: [
      claim("roster --version", 2),
      claim("roster contacts list --help", 2.4),
      claim("roster contacts get, 10^6 contacts embedded", 5),
      claimRatio(
        "`roster contacts get` over HTTP, time of the node:http script",
        requested,
        "time",
        "roster contacts get, over HTTP",
        "node:http script",
        { atMost: 1.4 }
      )
    ],
    notes: [
      "The build writes down the version and the help of each command, and the launcher prints them without " +
        "loading anything else. `contacts ls --help` has no such page: it shows the cost of loading the " +
        "program, parsing the command line and printing.",
      "Of such a start, a fifth is Node itself, and the rest is the first run of effect and effect/cli, whose " +
        "modules create schemas, classes and functions, most of which are compiled when they are first called. A " +
        "request adds the contract, whose endpoints create all their schemas, and undici; the embedded store adds " +
        "the service and its routes, and takes no lock unless there is something to migrate, to run or to remove. " +
        "Node's crypto, zlib and file promises are loaded only by commands that use them, and patterns with the " +
        "letters of all scripts only for text that needs them.",
      'Half of the node:http script is the line `import { request } from "node:http"`: Node reads all ' +
        "exports of the module, and some of them load its fetch. The command line avoids that."
    ]
  }
})

/** What it costs to start the command line. */
export const cliBenchmark: Benchmark = {
  name: "cli",
  title: "Start-up of the command line",
  about:
    "Measures whole processes from start to exit, with the compile cache of earlier starts. The reference of " +
    "a start is Node with nothing to do; that of a request is a script that uses node:http, reads the key " +
    "from the environment, parses the answer and prints it unchecked. The server answers from memory in " +
    "another process. The embedded store holds 10^6 contacts that the command line imported once.",
  run
}
