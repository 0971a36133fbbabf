/** The PostgreSQL that a command names: its address by flag or environment, and its password, which nothing prints. */
import { Config, Effect, Redacted } from "effect"
import { Flag } from "effect/cli"
import type { PostgresOptions } from "@roster/server"
import { usageError } from "../errors/UsageError.ts"
import { Output } from "../terminal/Output.ts"
import { fromEnvironment } from "./Environment.ts"
import { flags } from "./Settings.ts"

const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

const environment = fromEnvironment(
  Config.all({
    url: optional(Config.Redacted("ROSTER_DATABASE_URL")),
    password: optional(Config.Redacted("ROSTER_DATABASE_PASSWORD"))
  })
)

export const databaseUrl = Flag.String("database-url").pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription("PostgreSQL of the store, as postgres://USER@HOST/DATABASE (or set ROSTER_DATABASE_URL)"),
  Flag.map(Redacted.make),
  Flag.withDefault(undefined)
)

const isAddress = (url: URL | null): url is URL =>
  url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.host !== ""

/** The PostgreSQL of a command; `undefined` if none is named, or `--db` names a file. */
export const database = Effect.fnUntraced(function* (flag: Redacted.Redacted<string> | undefined) {
  const { password, url: fromEnvironment } = yield* environment
  const { db } = yield* flags
  if (flag !== undefined && db !== undefined) {
    return yield* usageError(
      "A PostgreSQL and a store file are both set, but a command uses only one of them.",
      "Remove --database-url or --db."
    )
  }
  const url = flag ?? (db === undefined ? fromEnvironment : undefined)
  if (url === undefined) return undefined
  // Not repeated in the message, since it may hold the password.
  const parsed = URL.parse(Redacted.value(url))
  if (!isAddress(parsed)) {
    return yield* usageError(
      `The address of the database (${flag === undefined ? "ROSTER_DATABASE_URL" : "--database-url"}) is not ` +
        "one of PostgreSQL.",
      "Write it as postgres://USER@HOST:PORT/DATABASE, with the password in ROSTER_DATABASE_PASSWORD."
    )
  }
  if (flag !== undefined && parsed.password !== "") {
    const output = yield* Output
    yield* output.note(
      "warning: other users of this machine can read the password in --database-url. Set ROSTER_DATABASE_PASSWORD instead."
    )
  }
  return { url, ...(password === undefined ? {} : { password }) } satisfies PostgresOptions
})
