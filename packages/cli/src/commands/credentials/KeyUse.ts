/**
 * What `apikeys audit` looks at: the keys of a service, and of a store of this machine what they were used for as well.
 */
import type { CredentialsService, EmailAddress, ReportedAccessLevel, ServiceError } from "@roster/domain"
import { Context, Effect, Layer } from "effect"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { settings } from "../../settings/Settings.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

export class KeyUse extends Context.Service<
  KeyUse,
  {
    /** The levels that each key was used for, by its name; `undefined` where nobody can tell. */
    readonly levelsUsed: (
      subaccount: EmailAddress | undefined
    ) => Effect.Effect<
      ReadonlyMap<string, { readonly has: (level: ReportedAccessLevel) => boolean }> | undefined,
      ServiceError
    >
  }
>()("@roster/cli/KeyUse") {}

/** The interface of a service has no operation for it. */
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

export const layer = Layer.unwrap(
  Effect.map(settings, (on): Chosen => (on._tag === "Local" ? told : Layer.merge(TargetLayer.layer, untold)))
)
