/** The sources of API keys, how they are read, and which part of a key may be shown. */
import { Data, Effect, Redacted, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { usageError } from "../errors/UsageError.ts"
import { readKey } from "./InputFile.ts"

/** The address of a service is known, but no API key. */
export class MissingKey extends Schema.TaggedError<MissingKey>()("MissingKey", {
  message: Schema.String,
  baseUrl: Schema.String
}) {}

export type KeySource = Data.TaggedEnum<{
  File: { readonly path: string }
  Environment: { readonly key: Redacted.Redacted<string> }
  Profile: { readonly name: string; readonly key: Redacted.Redacted<string> }
  /** A command line of the profile that prints the key: the bridge to password managers and keychains. */
  Command: { readonly name: string; readonly commandLine: string }
}>

export const KeySource = Data.taggedEnum<KeySource>()

const redacted = (key: string) => Redacted.make(key, { label: "apiKey" })

/** Runs a command line in a shell. Its stdout is the key; its stderr is shown to the user. */
export const keyFromCommand = Effect.fnUntraced(function* (commandLine: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const command = ChildProcess.make(commandLine, { shell: true, stdin: "inherit", stderr: "inherit" })
  const refused = usageError(
    "The credential command of the profile printed no key.",
    `Run it yourself to see why: ${commandLine}`
  )
  const output = yield* Effect.scoped(
    Effect.gen(function* () {
      const handle = yield* spawner.spawn(command)
      const [text, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.stdout)), handle.exitCode], {
        concurrency: 2
      })
      return code === 0 ? text.trim() : ""
    })
  ).pipe(Effect.mapError(() => refused))
  return output === "" ? yield* refused : redacted(output)
})

/** Reads the key from its source. */
export const keyFrom = KeySource.$match({
  Environment: ({ key }) => Effect.succeed(key),
  Profile: ({ key }) => Effect.succeed(key),
  File: ({ path }) => Effect.map(readKey(path), redacted),
  Command: ({ commandLine }) => keyFromCommand(commandLine)
})

/** The name of a key's source, for messages. */
export const keyOrigin = KeySource.$match({
  Environment: () => "ROSTER_API_KEY",
  Profile: ({ name }) => `the profile ${name}`,
  File: ({ path }) => (path === "-" ? "standard input" : path),
  Command: ({ name }) => `a command of the profile ${name}`
})

/** The part of a key that may be shown: enough to recognise it, far too little to use it. */
export const maskedKey = (key: string): string => (key.length < 16 ? "…" : `…${key.slice(-4)}`)
