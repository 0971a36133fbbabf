/**
 * Secrets that were issued in every way, used, refused and given up, and then looked for in everything that is kept or said.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { CredentialName, CredentialsService, EmailAddress } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { RosterServer, StoreBackup } from "@roster/server"
import { Cause, Context, Effect, Exit, FileSystem, Layer, Logger, Path, Redacted, References, Tracer } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import { ask, askJson, succeeded, succeededEmpty, textField, Wire } from "../wire/Wire.ts"
import { makeKey } from "./Access.ts"

const bin = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** What a secret may look like where it should not be, all in small letters. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const body = secret.replace(/^[a-z]+_/, "")
  const random = body.slice(0, 38)
  const base64 = [0, 1, 2].flatMap((before) => {
    // The same bytes look different at each place within three, and at their ends depend on what is beside them.
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const inner = (text: string) => text.slice(4, -4)
    return [inner(bytes.toString("base64")), inner(bytes.toString("base64url"))]
  })
  return [
    secret,
    body,
    random,
    Buffer.from(random).toString("hex"),
    Buffer.from(random).toString("base64").slice(0, -4),
    [...random].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join(""),
    Buffer.from(random, "utf16le").toString("latin1"),
    ...base64
  ].map((form) => form.toLowerCase())
}

const countIn = (text: string, secret: string): number => text.split(secret).length - 1

/** Asserts that none of the secrets, in whatever form, is in a text or a file. */
const holdsNone = (what: string, content: string | Uint8Array, secrets: ReadonlyMap<string, string>): void => {
  const bytes = Buffer.from(content)
  const texts = [bytes.toString("latin1").toLowerCase(), bytes.toString("utf16le").toLowerCase()]
  for (const [name, secret] of secrets) {
    for (const form of formsOf(secret)) {
      for (const text of texts) assert.isFalse(text.includes(form), `the secret of ${name} is in ${what}`)
    }
  }
}

/** Runs a command to its end. */
const cli = (folder: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resume) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
        NO_COLOR: "1",
        ...env
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (part: Buffer) => (stdout += part.toString()))
    child.stderr.on("data", (part: Buffer) => (stderr += part.toString()))
    child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
  })

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("secrets", (it) => {
  it.effect("S03 are in the one output that hands them out, and in nothing else that is said, kept or copied", () =>
    Effect.gen(function* () {
      const { administratorKey, answers, served } = yield* Wire
      const fileSystem = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = path.dirname(served.filename)
      const secrets = new Map([["administrator", administratorKey]])

      // Made over HTTP, by the administrator and by another key, for the account and for a subaccount.
      secrets.set(
        "http",
        yield* makeKey({ Name: "http", AccessLevel: ["ViewContacts", "ModifyAccessTokens", "SendSmtp"] })
      )
      const http = { key: secrets.get("http") ?? "" }
      secrets.set("by http", yield* makeKey({ Name: "by http", AccessLevel: ["ViewContacts"] }, http))
      secrets.set("sub", yield* makeKey({ Name: "sub", AccessLevel: ["ViewContacts"], Subaccount: "sub@example.com" }))
      const smtp = succeeded(yield* askJson("POST", "/security/smtp", { Name: "login@example.com" }, http), 201)
      secrets.set("smtp", textField(smtp, "Token"))

      // Used, where they are good and where they are not.
      for (const key of secrets.values()) {
        yield* ask("GET", "/contacts", { key })
        yield* ask("GET", "/security/apikeys", { key })
        yield* ask("GET", "/contacts", { key: `${key}x` })
        yield* ask("GET", "/contacts", { key: null, headers: { "X-ElasticEmail-ApiKey": `Bearer ${key}` } })
      }
      // A key that nobody has, where it belongs and where it does not.
      const mistyped = "mistyped_key-of-nobody-that-is-as-long-as-one-of-ours-93b1"
      yield* ask("GET", "/contacts", { key: mistyped })
      yield* ask("GET", `/${mistyped}`, { key: mistyped, headers: { "X-ElasticEmail-ApiKey": mistyped } })
      assert.notInclude(answers(), mistyped)
      // Refused, and given up: another one takes the place.
      yield* askJson("POST", "/security/apikeys", { Name: "greedy", AccessLevel: ["Export"] }, http)
      yield* askJson("POST", "/security/apikeys", { Name: "http", AccessLevel: [] }, http)
      yield* ask("POST", "/security/apikeys", { ...http, body: "{{{" })
      yield* ask("POST", "/contacts", { key: secrets.get("by http") ?? "" })
      secrets.set("successor", yield* makeKey({ Name: "http 2", AccessLevel: ["ViewContacts"] }))
      succeededEmpty(yield* ask("DELETE", "/security/apikeys/http"))
      succeeded(yield* askJson("PUT", "/security/apikeys/http%202", { Name: "http", AccessLevel: ["ViewContacts"] }))
      yield* ask("GET", "/contacts", http)
      assert.strictEqual(
        [...secrets.values()].reduce((sum, secret) => sum + countIn(answers(), secret), 0),
        secrets.size - 1
      )
      secrets.set("nobody", mistyped)
      // Somebody takes a secret for a name: the answer says so to whoever said it, and that is all.
      const mistaken = yield* ask("DELETE", `/security/apikeys/${secrets.get("by http") ?? ""}`)
      assert.strictEqual(mistaken.status, 404)

      // Made on the command line, in the store itself and through the service.
      const printed: Array<string> = []
      const remote = { ROSTER_BASE_URL: served.baseUrl, ROSTER_API_KEY: administratorKey }
      const local = ["--db", served.filename]
      const access = ["--access", "ViewContacts"]
      for (const [name, args, env] of [
        ["cli local", ["apikeys", "create", "cli local", ...access, ...local, "-o", "json"], {}],
        ["cli table", ["apikeys", "create", "cli table", ...access, ...local, "-o", "table"], {}],
        ["cli remote", ["apikeys", "create", "cli remote", ...access], remote],
        ["cli smtp", ["smtp", "create", "cli@example.com", ...local], {}]
      ] as const) {
        const { code, stderr, stdout } = yield* cli(folder, args, env)
        assert.strictEqual(code, 0, stderr)
        const secret = /roster(?:smtp)?_[0-9a-z]{45}/.exec(stdout)?.[0] ?? assert.fail(`no secret in ${stdout}`)
        assert.strictEqual(countIn(stdout, secret), 1)
        secrets.set(name, secret)
        printed.push(stdout.replace(secret, ""), stderr)
        const own = { ROSTER_BASE_URL: served.baseUrl, ROSTER_API_KEY: secret }
        const refused = yield* cli(folder, ["contacts", "add", "a@example.com"], own)
        assert.strictEqual(refused.code, 4)
        printed.push(refused.stdout, refused.stderr)
      }
      for (const args of [
        ["apikeys", "list"],
        ["smtp", "list", "-o", "table"],
        ["apikeys", "create", "cli local", ...access]
      ]) {
        const ended = yield* cli(folder, [...args, ...local])
        printed.push(ended.stdout, ended.stderr)
      }

      // A backup while the service runs.
      const backup = path.join(folder, "backup.db")
      yield* StoreBackup.create({ from: served.filename, to: backup })

      holdsNone("what the service wrote", served.output(), secrets)
      holdsNone("what the commands wrote", printed.join("\n"), secrets)
      const files = (yield* fileSystem.readDirectory(folder)).map((file) => path.join(folder, file))
      const searched: Array<string> = []
      for (const file of files) {
        if (file === served.keyFile || (yield* fileSystem.stat(file)).type !== "File") continue
        holdsNone(file, yield* fileSystem.readFile(file), secrets)
        searched.push(path.basename(file))
      }
      assert.includeMembers(searched, ["roster.db", "roster.db-wal", "backup.db"])
      // The search finds what is there: the key file holds its key, and nothing of the others.
      const keyFile = yield* fileSystem.readFileString(served.keyFile)
      assert.throws(() => holdsNone("the key file", keyFile, secrets))
      assert.throws(() => holdsNone("base64", Buffer.from(`x${keyFile}`).toString("base64"), secrets))
      assert.strictEqual(keyFile, `${administratorKey}\n`)
      assert.isAtLeast(secrets.size, 10)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("S03 are in no span and no line of a log that leaves nothing out, of the service or of the client", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, logLevel, message }) => {
        lines.push(inspect([logLevel, message, cause], { depth: 8, maxStringLength: Infinity }))
      })
      const secrets = new Map<string, string>()
      yield* Effect.gen(function* () {
        let apiKey: Redacted.Redacted<string> | undefined
        const server = yield* Layer.build(
          RosterServer.layer({
            port: 0,
            store: { filename: ":memory:" },
            onAdministratorKey: (key) =>
              Effect.sync(() => {
                apiKey = key
              })
          })
        )
        const { address } = Context.get(server, RosterServer.RosterServer)
        const credentials = (key: Redacted.Redacted<string> | undefined) =>
          Layer.build(
            RosterClient.layer({ baseUrl: address, apiKey: key, traceSubjects: true }).pipe(
              Layer.provide(UndiciHttpClient.layer())
            )
          ).pipe(Effect.map((services) => Context.get(services, CredentialsService)))
        if (apiKey !== undefined) secrets.set("administrator", Redacted.value(apiKey))
        const { apiKeys, smtp } = yield* credentials(apiKey)
        const made = yield* apiKeys.create({ name: CredentialName.make("k"), accessLevels: ["ModifyAccessTokens"] })
        secrets.set("k", Redacted.value(made.token))
        const login = yield* smtp.create({ name: EmailAddress.make("login@example.com") })
        secrets.set("smtp", Redacted.value(login.token))
        const own = yield* credentials(made.token)
        yield* Effect.exit(own.apiKeys.create({ name: CredentialName.make("l"), accessLevels: ["Export"] }))
        yield* Effect.exit(own.apiKeys.list())
        yield* apiKeys.delete("k")
        yield* Effect.exit(own.apiKeys.list())
        yield* Effect.promise(() => fetch(`${address}/contacts/%00`, { headers: { "X-Service-ApiKey": "wrong" } }))
        yield* Effect.logTrace("the end")
      }).pipe(
        Effect.scoped,
        Effect.withTracer(tracer),
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
      const names = spans.map((span) => span.name)
      assert.include(names, "CredentialsService.apiKeys.create")
      assert.includeMembers(names, ["sqlite", "sql.transaction", "POST", "DELETE", "CredentialsService.smtp.create"])
      assert.strictEqual(secrets.size, 3)
      // All that an exporter is given; the value that a span ended with stays in the process.
      const all = spans.map(({ attributes, events, links, name, status }) => {
        const failure = status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : ""
        return inspect([name, attributes, events, links, failure], { depth: 8, maxStringLength: Infinity })
      })
      holdsNone("the spans", all.join("\n"), secrets)
      assert.isTrue(lines.some((line) => line.includes("the end")))
      holdsNone("the log", lines.join("\n"), secrets)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
