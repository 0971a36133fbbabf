/** `roster apikeys audit` */
import { CredentialsService, type EmailAddress, type ReportedAccessLevel, type ServiceError } from "@roster/domain"
import { describeFinding, auditApiKeys } from "@roster/workflows"
import { Context, DateTime, Duration, Effect, Layer, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { subaccount } from "../CredentialFlags.ts"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { settings } from "../../../settings/Settings.ts"
import * as EmbeddedStore from "../../../target/EmbeddedStore.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { Output } from "../../../terminal/Output.ts"
import * as Results from "../../../terminal/Results.ts"
import { span, toggle, withExamples } from "../../shared/CommonFlags.ts"

class KeyUse extends Context.Service<
  KeyUse,
  {
    /** The access levels that each key was used for, by key name; `undefined` if they are not recorded. */
    readonly levelsUsed: (
      subaccount: EmailAddress | undefined
    ) => Effect.Effect<
      ReadonlyMap<string, { readonly has: (level: ReportedAccessLevel) => boolean }> | undefined,
      ServiceError
    >
  }
>()("@roster/cli/KeyUse") {}

/** The HTTP interface has no operation for the use of keys. */
const untold = Layer.succeed(KeyUse, { levelsUsed: () => Effect.undefined })

const told = Layer.unwrap(
  Effect.gen(function* () {
    const { AuditQueries, SqlCredentialsService } = yield* EmbeddedStore.server
    const use = Effect.map(AuditQueries.AuditQueries, ({ levelsUsed }) =>
      KeyUse.of({
        levelsUsed: (subaccount) =>
          Effect.map(levelsUsed({ subaccount }), (keys) => {
            const levels = [...keys].map(([name, used]) => [name, new Set<string>(used.keys())] as const)
            return new Map(levels)
          })
      })
    )
    return Layer.mergeAll(
      Layer.effect(KeyUse, use).pipe(Layer.provide(AuditQueries.layer)),
      SqlCredentialsService.layer
    )
  })
).pipe(Layer.provideMerge(EmbeddedStore.layer))

type Chosen = Layer.Layer<
  KeyUse | CredentialsService,
  Layer.Error<typeof told> | Layer.Error<typeof TargetLayer.layer>,
  Layer.Services<typeof told> | Layer.Services<typeof TargetLayer.layer>
>

const layer = Layer.unwrap(
  Effect.map(settings, (on): Chosen => (on._tag === "Local" ? told : Layer.merge(TargetLayer.layer, untold)))
)

const Row = Schema.Struct({
  Name: Schema.String,
  Finding: Schema.String,
  What: Schema.String,
  Advice: Schema.String
})

export const command = Command.make(
  "audit",
  {
    unusedFor: span("unused-for", "Report keys not used for this long", Duration.days(90)),
    expiring: span("expiring", "Report keys that expire within this time", Duration.days(30)),
    failOnFindings: toggle("fail-on-findings", "Exit with code 9 if there are findings, for scripts"),
    subaccount
  },
  Effect.fnUntraced(function* ({ expiring, failOnFindings, subaccount, unusedFor }) {
    const { apiKeys } = yield* CredentialsService
    const output = yield* Output
    const keys = yield* apiKeys.list({ subaccount })
    const levelsUsed = yield* (yield* KeyUse).levelsUsed(subaccount)
    const now = yield* DateTime.now
    const findings = auditApiKeys(keys, { now, unusedFor, expiringWithin: expiring, levelsUsed })
    const rows = findings.map((finding) => {
      const { advice, what } = describeFinding(finding)
      return { Name: finding.name, Finding: finding._tag, What: what, Advice: advice }
    })
    yield* Results.records(Row, ["Name", "Finding", "What", "Advice"], Stream.fromIterable(rows))
    yield* output.note(
      levelsUsed === undefined
        ? "Unused access levels are not checked: a service does not report what a key was used for. Run this on the machine of the store, with --db FILE."
        : "Use of access levels is known only since this store began to record it."
    )
    if (failOnFindings && findings.length > 0) {
      return yield* new PartlyDone({
        message: `${findings.length} findings in ${new Set(findings.map(({ name }) => name)).size} keys.`,
        hint: "Follow the advice for each finding, or omit --fail-on-findings."
      })
    }
  })
).pipe(
  withExamples({
    "roster apikeys audit": "",
    "roster apikeys audit --unused-for 30d --fail-on-findings": "For a script",
    "roster apikeys audit --db roster.db": "Include access levels that were never used"
  }),
  Command.provide(layer)
)
