/**
 * The flags of API keys and SMTP credentials, and what they come to in a request.
 */
import { parsePurpose, type Purpose, purposes } from "@roster/api/Purpose"
import { AccessLevel, IpRange, parseWireDate } from "@roster/domain"
import { didYouMean } from "@roster/domain/RuleError"
import { DateTime, Effect } from "effect"
import { CliError, Flag } from "effect/cli"
import { parseEmail, toggle } from "../shared/CommonFlags.ts"
import { shorten } from "../../terminal/Printable.ts"
import { parseDuration } from "../../terminal/OutputFlags.ts"
import { invalid, parseWith, refusedInput } from "../../errors/UsageError.ts"

export const subaccount = Flag.String("subaccount").pipe(
  Flag.mapEffect(parseEmail("subaccount")),
  Flag.withMetavar("EMAIL"),
  Flag.withDescription("The subaccount whose credentials these are"),
  Flag.withDefault(undefined)
)

const levels = new Map(AccessLevel.literals.map((level) => [level.toLowerCase(), level]))

const parseLevel = (name: string) => {
  const level = levels.get(name.toLowerCase())
  const meant =
    didYouMean(name, AccessLevel.literals) ??
    "ViewContacts, ModifyContacts, Export, Security and ModifyAccessTokens are some"
  return level === undefined
    ? refusedInput(Effect.fail(invalid("access", `there is no access level "${name}"; ${meant}`)))
    : Effect.succeed(level)
}

const commaSeparated = (names: string) => names.split(",").map((name) => name.trim())

/** Access levels, each with a flag of its own or several with commas between them. */
const access = Flag.String("access").pipe(
  Flag.mapEffect((names) => Effect.forEach(commaSeparated(names), parseLevel)),
  Flag.withMetavar("LEVEL"),
  Flag.withDescription("What the key may do, by access levels (repeatable, or with commas)"),
  Flag.atLeast(0),
  Flag.map((groups) => groups.flat())
)

const parseWanted = (name: string) => {
  const purpose = parsePurpose(name)
  if (purpose !== undefined) {
    return Effect.succeed(purpose)
  }
  const meant = didYouMean(name, purposes)
  const known = `there are ${purposes.join(", ")}`
  const help = meant === undefined ? known : `${meant} ${known}`
  return refusedInput(Effect.fail(invalid("for", `there is no purpose "${shorten(name)}"; ${help}`)))
}

/** What a key is for, in the words of `Purpose.ts`. */
const wanted = Flag.String("for").pipe(
  Flag.mapEffect((names) => Effect.forEach(commaSeparated(names), parseWanted)),
  Flag.withMetavar("PURPOSE"),
  Flag.withDescription(
    "What the key is for, such as contacts:read,export: it gets the access levels that this needs (repeatable, or with commas)"
  ),
  Flag.atLeast(0),
  Flag.map((groups) => groups.flat())
)

/** What a key may do, by its access levels or by what it is for. */
export const levelFlags = { access, for: wanted }

export interface LevelFlags {
  readonly access: ReadonlyArray<AccessLevel>
  readonly for: ReadonlyArray<Purpose>
}

/** Whether anything is said of what a key may do. */
export const namesLevels = (flags: LevelFlags): boolean => flags.access.length + flags.for.length > 0

/** The access levels that the flags come to. The contract is loaded only where it is asked. */
export const levelsOf = Effect.fnUntraced(function* ({ access, for: wanted }: LevelFlags) {
  if (wanted.length === 0) return [...new Set(access)]
  const { accessFor } = yield* Effect.promise(() => import("@roster/api/Operation"))
  return [...new Set([...access, ...accessFor(wanted)])]
})

/** When a credential ends: a date, or a time from now. */
export const expires = Flag.String("expires").pipe(
  Flag.mapEffect((given) => {
    const span = parseDuration(given)
    if (span !== undefined) return Effect.map(DateTime.now, DateTime.addDuration(span))
    const date = parseWireDate(given)
    const refuse = (issue: string) => refusedInput(Effect.fail(invalid("expires", issue)))
    return date === undefined
      ? refuse("it is a date such as 2030-12-31 or 2030-12-31T12:00:00Z, or a time from now such as 30d")
      : Effect.flatMap(DateTime.isFuture(date), (isAhead) =>
          isAhead ? Effect.succeed(date) : refuse(`${given} lies in the past`)
        )
  }),
  Flag.withMetavar("DATE|30d"),
  Flag.withDescription("When it ends: a date (UTC), or a time from now"),
  Flag.withDefault(undefined)
)

export const ipRanges = Flag.String("ip-range").pipe(
  Flag.mapEffect(parseWith(IpRange, "ip-range")),
  Flag.withMetavar("CIDR"),
  Flag.withDescription("An address or range that it may be used from (repeatable)"),
  Flag.atLeast(0),
  Flag.map((ranges) => (ranges.length === 0 ? undefined : ranges))
)

/** The flags of a change that takes something away. */
export const clearing = {
  noExpiry: toggle("no-expiry", "Let it never end"),
  noIpRange: toggle("no-ip-range", "Let it be used from everywhere")
}

/** What the flags of a change say. */
export interface CredentialChanges {
  readonly rename: string | undefined
  readonly expires: DateTime.Utc | undefined
  readonly ipRanges: ReadonlyArray<IpRange> | undefined
  readonly noExpiry: boolean
  readonly noIpRange: boolean
}

/** Refuses a change that changes nothing, and one that gives and takes the same. */
export const checkChanges = (
  changes: CredentialChanges,
  others: boolean
): Effect.Effect<void, CliError.ValidationError> => {
  const refuse = (message: string) => Effect.fail(new CliError.ValidationError({ message }))
  const { expires, ipRanges, noExpiry, noIpRange, rename } = changes
  if (noExpiry && expires !== undefined) return refuse("--expires and --no-expiry exclude each other.")
  if (noIpRange && ipRanges !== undefined) return refuse("--ip-range and --no-ip-range exclude each other.")
  return rename === undefined && expires === undefined && ipRanges === undefined && !noExpiry && !noIpRange && !others
    ? refuse("There is nothing to change: name what is to be different.")
    : Effect.void
}
