/** `roster status` */
import { versionHeader } from "@roster/api"
import { AccessLevel, AccountService, type CallingKey, orWhereUntold } from "@roster/domain"
import { formatWireDate } from "@roster/domain/internal"
import { RosterClient } from "@roster/http-client"
import { probeAccess } from "@roster/workflows"
import { Effect, Result } from "effect"
import { Command } from "effect/cli"
import { HttpClient } from "effect/http"
import { originOf, settingsWithoutKey } from "../../settings/Settings.ts"
import { defaultStorePath } from "../../target/EmbeddedStore.ts"
import { openKey } from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import { printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"

const dateOf = ({ expires }: CallingKey): string | null => (expires === null ? null : formatWireDate(expires))

/** The levels of which a read can tell whether a key lacks them, at any service. */
const readingLevels: ReadonlyArray<AccessLevel> = ["ViewContacts", "Export", "Security"]

const levelCount = AccessLevel.literals.filter((level) => level !== "None").length

/** What a key may do in words. */
const mayOf = (granted: ReadonlyArray<string>, key: CallingKey | undefined): string =>
  granted.length >= levelCount
    ? `everything (${granted.length} levels)`
    : granted.join(", ") || (key === undefined ? "nothing that read requests can show" : "nothing")

/** The name, account and end of a key in words. */
const namesOf = (key: CallingKey): string => {
  const { account, name } = key
  const ends = dateOf(key)
  return [
    printable(name ?? "the owner of the store"),
    ...(account === "" ? [] : [`of ${printable(account)}`]),
    ends === null ? "without an end" : `until ${ends}`
  ].join(", ")
}

export const command = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const on = yield* settingsWithoutKey
    if (on._tag === "Local") {
      const db = on.filename ?? (yield* defaultStorePath)
      const from = on.filename === undefined ? null : ((yield* originOf("db")) ?? null)
      const words = from === null ? `${db}, the default` : `${db} from ${from}`
      return yield* Results.summary({ target: "local", db, from }, `store    ${words}, which needs no key`)
    }
    const { baseUrl } = on
    const from = (yield* originOf("baseUrl")) ?? null
    const service = { target: "remote", baseUrl, from }
    const line = `service  ${baseUrl} from ${from}`
    if (on._tag === "MissingKey") {
      yield* Results.summary({ ...service, key: null, source: null }, `${line}\nkey      none`)
      return yield* on
    }
    const { services, shown: key, source } = yield* openKey(on)
    let version: string | null = null
    const ask = Effect.flatMap(AccountService, ({ key }) => key).pipe(
      Effect.map((calling) => {
        const { accessLevels } = calling
        const lacking = readingLevels.filter((level) => !accessLevels.includes(level))
        const levels = [...accessLevels, ...lacking].map((level) => ({ level, granted: accessLevels.includes(level) }))
        return { calling, levels }
      }),
      // A service that does not tell is asked what it refuses.
      orWhereUntold(Effect.map(probeAccess(), (levels) => ({ calling: undefined, levels }))),
      RosterClient.withClientTransform(
        HttpClient.tap(({ headers }) => Effect.sync(() => (version ??= headers[versionHeader] ?? null)))
      ),
      Effect.provide(services)
    )
    const told = yield* Effect.result(ask)
    const { calling, levels } = Result.getOrElse(told, () => ({ calling: undefined, levels: [] }))
    const named = (isGranted: boolean) => levels.flatMap(({ granted, level }) => (granted === isGranted ? [level] : []))
    const [granted, lacking] = [named(true), named(false)]
    const words = [
      line,
      `key      ${key} from ${source}`,
      ...(version === null ? [] : [`version  ${version}`]),
      ...(calling === undefined ? [] : [`named    ${namesOf(calling)}`]),
      ...(Result.isSuccess(told) ? [`may      ${mayOf(granted, calling)}`] : []),
      ...(lacking.length === 0 ? [] : [`may not  ${lacking.join(", ")}`])
    ]
    const facts = calling && { name: calling.name, account: calling.account, expires: dateOf(calling) }
    const keyFacts = Result.isSuccess(told) ? { version, ...facts, granted, lacking } : {}
    yield* Results.summary({ ...service, key, source, ...keyFacts }, words.join("\n"))
    yield* Effect.fromResult(told)
    if (calling !== undefined) return
    yield* (yield* Output).note(
      "Levels for writing cannot be tested with read requests; a key with the level Security can see all levels with: roster apikeys list"
    )
  })
).pipe(Command.withExamples([{ command: "roster status" }, { command: "roster status -o json" }]))
