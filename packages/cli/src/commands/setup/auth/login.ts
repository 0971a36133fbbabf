/** `roster auth login` */
import { Effect, Layer, Redacted, Stdio, Stream, Terminal } from "effect"
import { Command, Prompt } from "effect/cli"
import { changeConfig, configPath } from "../../../settings/ConfigFile.ts"
import * as GlobalFlags from "../../../settings/GlobalFlags.ts"
import { checkInputs, readKey } from "../../../settings/InputFile.ts"
import { text, toggle } from "../../../settings/FlagForms.ts"
import { refuseFlags, withExamples } from "../../shared/CommonFlags.ts"
import { keyFromCommand, maskedKey } from "../../../settings/ApiKeySource.ts"
import { Output } from "../../../terminal/Output.ts"
import { layerWithKey } from "../../../target/TargetLayer.ts"
import { defaultProfile, localProfile, type Profile, ProfileName } from "../../../settings/Profile.ts"
import * as Results from "../../../terminal/Results.ts"
import { environment, flags } from "../../../settings/Settings.ts"
import { usageError } from "../../../errors/UsageError.ts"
import { checkKey } from "../KeyCheck.ts"

/** A prompt reads Ctrl-C as a key; this turns it into the signal. */
const interrupted = Effect.andThen(
  Effect.sync(() => process.kill(process.pid, "SIGINT")),
  Effect.never
)

/** Reads the key from a file, from stdin, or from a hidden prompt. */
const readSecret = Effect.fnUntraced(function* (keyFile: string | undefined) {
  const stdio = yield* Stdio.Stdio
  if (keyFile !== undefined) return Redacted.make(yield* readKey(keyFile), { label: "apiKey" })
  if (!(yield* stdio.stdinIsTerminal)) return Redacted.make(yield* readKey("-"), { label: "apiKey" })
  if (!(yield* GlobalFlags.mayAsk)) {
    return yield* usageError(
      "The API key is missing, and --no-input forbids to ask for it.",
      "Add --key-file FILE, or - for stdin."
    )
  }
  return yield* Prompt.run(Prompt.Hidden({ message: "API key" })).pipe(
    // The prompt goes to stderr, since stdout is for results.
    Effect.updateService(Terminal.Terminal, (terminal) =>
      Terminal.make({ ...terminal, display: (text) => Stream.run(Stream.make(text), stdio.stderr()) })
    ),
    Effect.map((typed) => Redacted.make(Redacted.value(typed).trim(), { label: "apiKey" })),
    Effect.catchTag("QuitError", () => interrupted)
  )
})

/** Stands for the key that is not known yet. */
const anyKey = Redacted.make("0".repeat(16), { label: "apiKey" })

export const command = Command.make(
  "login",
  {
    keyFile: text(
      "key-file",
      "Read the key from FILE, or - for stdin (default: prompt; stdin without a terminal)",
      "FILE|-"
    ),
    credentialProcess: text("credential-process", "Run this command each time to get the key", "COMMAND"),
    requireRemote: toggle("require-remote", "Refuse to use a local store while this profile is in use"),
    protect: toggle("protect", "Ask for the name of this profile before anything of its service is deleted"),
    noCheck: toggle("no-check", "Save the key without checking it with the service")
  },
  Effect.fnUntraced(function* ({ credentialProcess, keyFile, noCheck, protect, requireRemote }) {
    const set = yield* environment
    const given = yield* flags
    yield* refuseFlags(
      [given.db !== undefined, "--db is a local store, which needs no key: omit it, or --base-url with auth login."],
      [
        given.apiKeyFile !== undefined && keyFile !== undefined,
        "--key-file and --api-key-file say the same: omit one."
      ],
      [
        given.apiKeyFile !== undefined && credentialProcess !== undefined,
        "--credential-process and --api-key-file cannot be used together."
      ]
    )
    const baseUrl = given.baseUrl ?? set.baseUrl
    if (baseUrl === undefined) {
      return yield* usageError("The address of the service is missing.", "Add --base-url.")
    }
    const apiKeyHeader = given.apiKeyHeader ?? set.apiKeyHeader
    const apiKeyPrefix = given.apiKeyPrefix ?? set.apiKeyPrefix
    const name = (yield* GlobalFlags.profile) ?? set.profile ?? defaultProfile
    if (name === localProfile) {
      return yield* usageError(`The name ${name} stands for the local store.`, "Choose another name with --profile.")
    }
    const service = Results.omitUndefined({ baseUrl, apiKeyHeader, apiKeyPrefix })
    // Refuses an address or a header that cannot be used, before the key is asked for.
    yield* Effect.scoped(Layer.build(layerWithKey(service, anyKey)))
    const key = yield* credentialProcess === undefined
      ? readSecret(keyFile ?? given.apiKeyFile)
      : keyFromCommand(credentialProcess)
    if (Redacted.value(key) === "") {
      return yield* usageError("The API key is empty, so nothing was saved.", "Give the key that the service made.")
    }
    const profile: Profile = {
      ...service,
      ...(credentialProcess === undefined ? { apiKey: key } : { credentialProcess }),
      ...(requireRemote ? { requireRemote } : {}),
      ...(protect ? { protected: true } : {})
    }
    const verdict = noCheck ? "not checked" : yield* Effect.provide(checkKey, layerWithKey(profile, key))
    yield* changeConfig((before) =>
      Effect.succeed({ ...before, profile: ProfileName.make(name), profiles: { ...before.profiles, [name]: profile } })
    )
    const file = yield* configPath
    const masked = maskedKey(Redacted.value(key))
    yield* (yield* Output).note(`The profile ${name} is now the default; it is saved in ${file}.`)
    yield* Results.summary(
      { profile: name, baseUrl, key: masked, verdict },
      `${name}: the key ${masked} for ${baseUrl} is ${verdict}`
    )
  })
).pipe(
  Command.validate(({ credentialProcess, keyFile }) =>
    refuseFlags([
      credentialProcess !== undefined && keyFile !== undefined,
      "--credential-process and --key-file cannot be used together."
    ])
  ),
  withExamples({
    "roster auth login --base-url https://example.com/v4": "Prompt for the key",
    "roster auth login --base-url https://example.com/v4 --key-file key.txt": "",
    'roster auth login --profile work --base-url https://example.com/v4 --credential-process "pass roster"':
      "Keep the key in a password manager"
  }),
  Command.provideEffectDiscard(({ keyFile }) => checkInputs([keyFile]))
)
