import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runHere } from "./inProcess.ts"
import { failure } from "./roster.ts"

/** What is refused before anything is opened or sent: the arguments, the code in JSON, and a piece of the message. */
const refusals: ReadonlyArray<readonly [args: string, code: string, message: RegExp]> = [
  ["contact list", "UsageError", /contacts/],
  ["contacts lst", "UsageError", /list/],
  ["contact --help", "UsageError", /Did you mean contacts/],
  ["contacts lst -h", "UsageError", /Did you mean list/],
  ["import contacts.csv", "UsageError", /"import" for "roster". Did you mean contacts import\?$/m],
  ["save vip", "UsageError", /Did you mean rules save\?$/m],
  ["help contact", "UsageError", /Did you mean contacts/],
  ["--db a.db contact --help", "UsageError", /Did you mean contacts/],
  ["--quiet --no-input contact -h", "UsageError", /Did you mean contacts/],
  ["contacts --profile=a lst --help", "UsageError", /Did you mean list/],
  ["contacts --help lst", "UsageError", /Did you mean list/],
  ["contacts list --limt 3", "UsageError", /--limit/],
  ["contacts list extra", "UsageError", /extra/],
  ["contacts list --limit", "UsageError", /--limit/],
  ["contacts list --limit 0", "InvalidInput", /limit/],
  ["contacts list --limit -5", "InvalidInput", /limit/],
  ["contacts list --limit 1.5", "UsageError", /limit/],
  ["contacts list --offset -1", "InvalidInput", /offset/],
  ["contacts list --all --limit 3", "UsageError", /--all/],
  ["contacts list --rule status=", "InvalidRule", /\^/],
  ["contacts list -o yaml", "UsageError", /json/],
  ["serve --tls-cert a.pem", "UsageError", /--tls-key/],
  ["serve --tls-key a.key", "UsageError", /--tls-cert/],
  ["serve --max-connections 0", "InvalidInput", /max-connections/],
  ["serve --max-connections-per-client 0", "InvalidInput", /max-connections-per-client/],
  ["contacts list --timeout soon", "InvalidInput", /timeout/],
  ["contacts list --timeout 0s", "InvalidInput", /timeout/],
  ["contacts get", "UsageError", /email/],
  ["contacts get ann", "InvalidInput", /ann/],
  ["contacts get ann@exam@ple.com", "InvalidInput", /only one @/],
  ["contacts add ann@example.com --status Happy", "UsageError", /Engaged/],
  ["contacts add ann@example.com --field city", "InvalidInput", /key=value/],
  ["contacts update ann@example.com", "UsageError", /nothing to change/],
  ["contacts delete --yes", "UsageError", /Name the contacts/],
  ["contacts delete ann@example.com bob --yes", "InvalidInput", /bob/],
  ["contacts import", "UsageError", /file/],
  ["contacts import a.csv --encoding utf-99", "InvalidInput", /encoding/],
  ["contacts export --email ann", "InvalidInput", /ann/],
  ["contacts export --format pdf", "UsageError", /csv/],
  ["apikeys create ci", "UsageError", /access/],
  ["apikeys create ci --access Exprot", "InvalidInput", /did you mean "Export"/],
  ["apikeys create ci --access Export,Nothing", "InvalidInput", /Nothing/],
  ["apikeys create ci --access Export --expires later", "InvalidInput", /expires/],
  ["apikeys create ci --access Export --expires 2030-02-30", "InvalidInput", /expires/],
  ["apikeys create ci --access Export --expires 99999999d", "InvalidInput", /expires.*36500d/],
  ["smtp create shop@example.com --expires 999999999w", "InvalidInput", /expires.*36500d/],
  ["apikeys update ci --expires 10000-01-01", "InvalidInput", /expires/],
  ["apikeys rotate ci --expires 99999999d", "InvalidInput", /expires.*36500d/],
  ["apikeys rotate ci --grace 99999999d", "InvalidInput", /grace.*36500d/],
  ["apikeys audit --unused-for 99999999d", "InvalidInput", /unused-for.*36500d/],
  ["apikeys audit --expiring 36501d", "InvalidInput", /expiring.*36500d/],
  ["audit list --since 99999999d", "InvalidInput", /since.*36500d/],
  ["contacts list --timeout 999999999w", "InvalidInput", /timeout.*36500d/],
  ["apikeys create ci --access Export --ip-range 300.0.0.1", "InvalidInput", /192\.0\.2\.0\/24/],
  ["apikeys create ci --access Export --subaccount team", "InvalidInput", /subaccount/],
  ["apikeys update ci", "UsageError", /nothing to change/],
  ["apikeys update ci --expires 30d --no-expiry", "UsageError", /--no-expiry/],
  ["apikeys update ci --ip-range 192.0.2.1 --no-ip-range", "UsageError", /--no-ip-range/],
  ["smtp create shop", "InvalidInput", /e-mail address/],
  ["smtp create shop@example.com --access Export", "UsageError", /--access/],
  ["emails send --from a@example.com --to b@example.com", "UsageError", /e-mail is empty/],
  ["emails send --from a@example.com --to b@example.com --text x --text-file y", "UsageError", /--text-file/],
  [
    "emails send --from a@example.com --to b@example.com --text-file - --html-file -",
    "UsageError",
    /Stdin can be used only once/
  ],
  ["emails send --from nobody --to b@example.com --text x", "InvalidInput", /from/],
  ["emails send --from a@example.com --text x", "UsageError", /to/],
  ["serve --port 65536", "UsageError", /65535/],
  ["serve --base-url https://example.com/v4", "UsageError", /serve/],
  ["contacts list --api-key sesame", "UsageError", /A key on the command line/],
  ["contacts", "UsageError", /subcommand/],
  ["-v", "UsageError", /-v/]
]

describe("usage errors", () => {
  it.live.each(refusals)("roster %s", ([args, code, message]) =>
    Effect.gen(function* () {
      const ended = yield* runHere(args.split(" "))
      assert.strictEqual(ended.code, 2, ended.stderr)
      assert.strictEqual(ended.stdout, "")
      const said = failure(ended)
      assert.deepStrictEqual(Object.keys(said), ["code", "message", "hint"])
      assert.strictEqual(said.code, code)
      assert.match(said.message, message)
      assert.notInclude(ended.stderr, "sesame")
      assert.notMatch(ended.stderr, /^\s+at /m)
    })
  )

  it.live("are the mistake and where the help is, in two lines", () =>
    Effect.gen(function* () {
      const { stderr } = yield* runHere(["contacts", "list", "--limt", "3", "-o", "table"])
      assert.strictEqual(
        stderr,
        "error: Unrecognized flag: --limt in command roster contacts list. Did you mean --limit?\n  See: roster contacts list --help\n"
      )
      const unknown = yield* runHere(["contacts", "lst", "-o", "table"])
      assert.match(unknown.stderr, /^error: [^\n]*"lst"[^\n]*Did you mean list or ls\?\n {2}See: [^\n]*\n$/)
      for (const command of ["list", "count", "export"]) {
        const { hint } = failure(yield* runHere(["contacts", command, "O'Neil"]))
        assert.include(hint, `roster contacts ${command} --rule "email contains 'O''Neil' OR firstname contains`)
        assert.strictEqual(hint.includes(`roster contacts ${command} --on "O'Neil"`), command !== "count")
      }
      const missing = yield* runHere(["contacts", "get", "-o", "table"])
      assert.match(missing.stderr, /^error: .*email.*\n {2}See: roster contacts get --help\n$/)
    })
  )

  it.live("are the message alone where a value is wrong", () =>
    Effect.gen(function* () {
      const { stderr } = yield* runHere(["contacts", "get", "ann", "-o", "table"])
      assert.match(stderr, /^error: Invalid email: "ann"/)
    })
  )
})

describe("help and version", () => {
  it.live("go to stdout when they are asked for", () =>
    Effect.gen(function* () {
      for (const args of [["--help"], ["-h"], [], ["contacts", "--help"], ["contacts", "list", "-h"], ["--version"]]) {
        const { code, stderr, stdout } = yield* runHere(args)
        assert.deepStrictEqual([code, stderr], [0, ""], args.join(" "))
        const [first] = args
        const expected =
          first === undefined ? /^roster keeps / : first === "--version" ? /^roster \d+\.\d+\.\d+\n$/ : /^DESCRIPTION/
        assert.match(stdout, expected)
      }
    })
  )
})
