/** The flags of API keys and SMTP credentials, and the values they have in a request. */
import { accessFor, levelPowers, parsePurposes, purposes } from "@roster/domain/Purpose"
import { AccessLevel, IpRange } from "@roster/domain"
import { type CredentialSettings, parseWireDate } from "@roster/domain/internal"
import { didYouMean } from "@roster/domain/DidYouMean"
import { DateTime, type Duration, Effect, Result, type Schema, Struct } from "effect"
import { type CliError, type Command, Flag } from "effect/cli"
import { parsed, parsedEach, toggle } from "../../settings/FlagForms.ts"
import { parseEmail, refuseFlags } from "../shared/CommonFlags.ts"
import { shorten } from "../../terminal/Printable.ts"
import { longestSpan, parseDuration } from "../../terminal/OutputFlags.ts"
import { parseWith, refuse } from "../../errors/UsageError.ts"

export const subaccount = parsed(
  "subaccount",
  parseEmail("subaccount"),
  "Subaccount that the credentials belong to (default: the account of the key)",
  "EMAIL"
)

export const rename = <Name>(schema: Schema.Codec<Name, string>) =>
  parsed("rename", parseWith(schema, "rename"), "New name", "NEW")

const levels = new Map(AccessLevel.literals.map((level) => [level.toLowerCase(), level]))

const parseLevel = (name: string) => {
  const level = levels.get(name.toLowerCase())
  const meant =
    didYouMean(name, AccessLevel.literals) ??
    "examples are ViewContacts, ModifyContacts, Export, Security and ModifyAccessTokens"
  return level === undefined ? refuse("access", `there is no access level "${name}"; ${meant}`) : Effect.succeed(level)
}

const parsePurposeNames = (names: string) => {
  const parsed = parsePurposes(names)
  if (Result.isSuccess(parsed)) return Effect.succeed(parsed.success)
  const name = parsed.failure
  const meant = didYouMean(name, purposes)
  const choices = `the purposes are ${purposes.join(", ")}`
  const help = meant === undefined ? choices : `${meant} ${choices}`
  return refuse("for", `there is no purpose "${shorten(name)}"; ${help}`)
}

const commaSeparated =
  <A>(parse: (name: string) => Effect.Effect<A, CliError.CliError>) =>
  (names: string) =>
    Effect.forEach(names.split(","), (name) => parse(name.trim()))

/** What a key may do, by access levels or by purposes. */
export const levelFlags = {
  access: parsedEach("access", commaSeparated(parseLevel), "Access levels of the key, comma-separated", "LEVEL").pipe(
    Flag.map((groups) => groups.flat())
  ),
  for: parsedEach(
    "for",
    parsePurposeNames,
    "Purposes of the key, such as contacts:read,write; adds the access levels that they need",
    "PURPOSE"
  ).pipe(Flag.map((groups) => groups.flat()))
}

/** Which purposes need which levels, and what such a key can do besides. */
export const levelNotes = {
  title: "PURPOSES",
  rows: levelPowers.map(({ level, power, purposes }) => [purposes.join(", "), `need ${level}, which ${power}`] as const)
}

type LevelFlags = Command.Command.Config.Infer<typeof levelFlags>

/** Whether the flags set access levels. */
export const namesLevels = (flags: LevelFlags): boolean => flags.access.length + flags.for.length > 0

/** The access levels of the flags. */
export const levelsOf = ({ access, for: wanted }: LevelFlags): ReadonlyArray<AccessLevel> => [
  ...new Set([...access, ...accessFor(wanted)])
]

/** Parses a date, or a time that `moved` adds to the current time or subtracts from it. */
export const parseMoment =
  (field: string, moved: (span: Duration.Duration) => (now: DateTime.Utc) => DateTime.Utc, examples: string) =>
  (given: string) => {
    const span = parseDuration(given)
    if (span !== undefined) return Effect.map(DateTime.now, moved(span))
    const date = parseWireDate(given)
    return date === undefined
      ? refuse(field, `write a date such as ${examples}, at most ${longestSpan}`)
      : Effect.succeed(date)
  }

const parseExpiry = parseMoment(
  "expires",
  DateTime.addDuration,
  "2030-12-31 or 2030-12-31T12:00:00Z, or a time from now such as 30d"
)

/** The names of the flags that set a setting and that remove it. */
const flagNames = {
  expires: ["expires", "no-expiry"],
  ipRanges: ["ip-range", "no-ip-range"]
} as const satisfies { readonly [Name in Exclude<CredentialSettings.SettingName, "accessLevels">]: unknown }

const set = {
  expires: parsed(
    flagNames.expires[0],
    (given) =>
      Effect.tap(parseExpiry(given), (date) =>
        Effect.flatMap(DateTime.isFuture(date), (isAhead) =>
          isAhead ? Effect.void : refuse("expires", `${given} is in the past`)
        )
      ),
    "Expiry: a date (UTC), or a time from now (default for new credentials: none)",
    "DATE|30d"
  ),
  ipRanges: parsedEach(
    flagNames.ipRanges[0],
    parseWith(IpRange, "ip-range"),
    "Allow use only from this IP address or range (default for new credentials: any)",
    "CIDR"
  ).pipe(Flag.map((ranges) => (ranges.length === 0 ? undefined : ranges)))
}

/** These give the value that the setting then has. */
const clear = {
  expires: toggle(flagNames.expires[1], "Remove the expiry").pipe(Flag.map((isOn) => (isOn ? null : undefined))),
  ipRanges: toggle(flagNames.ipRanges[1], "Allow use from any IP address").pipe(
    Flag.map((isOn): ReadonlyArray<IpRange> | undefined => (isOn ? [] : undefined))
  )
}

/** The flags that set and, in an update, remove the settings of a kind of credential, by the name of the setting. */
export const smtpFlags = { set, clear }
export const apiKeyFlags = { set, clear }

/** The settings that the flags of an update set and remove; the others are undefined. */
type SettingChanges = {
  readonly [Part in keyof typeof smtpFlags]: Command.Command.Config.Infer<(typeof smtpFlags)[Part]>
}

/** The settings as an update takes them. */
export const changesOf = ({ clear, set }: SettingChanges) => ({
  expires: clear.expires === undefined ? set.expires : clear.expires,
  ipRanges: clear.ipRanges ?? set.ipRanges
})

/** Refuses an update without changes, and one that sets and removes the same. */
export const checkChanges = ({ clear, set }: SettingChanges, others: boolean) =>
  refuseFlags(
    ...Struct.keys(flagNames).map((name) => {
      const message = `--${flagNames[name][0]} and --${flagNames[name][1]} cannot be used together.`
      return [set[name] !== undefined && clear[name] !== undefined, message] as const
    }),
    [
      !others && [...Object.values(set), ...Object.values(clear)].every((change) => change === undefined),
      "There is nothing to change: add at least one setting."
    ]
  )
