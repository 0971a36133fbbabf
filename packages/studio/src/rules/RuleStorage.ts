/**
 * Where saved rules are: at the service, which keeps those of its account. Behind `roster studio`, at a service that keeps none, they are
 * those of the command line.
 */
import {
  AccountService,
  type InvalidInput,
  type InvalidRule,
  orWhereUntold,
  type RuleName,
  type SavedRuleNotFound,
  type SavedRules,
  type ServiceError
} from "@roster/domain"
import { savedRulesOf } from "@roster/domain/internal"
import type { InvalidSettings } from "@roster/http-client"
import { Context, Data, Effect, Layer } from "effect"
import { Atom } from "effect/reactivity"
import { layerCalls, pageClient, services, session } from "../session/Session.ts"

/** The process of `roster studio` refused or does not answer. */
export class RulesUnavailable extends Data.TaggedError("RulesUnavailable")<{ readonly detail: string }> {
  override get message(): string {
    return `The saved rules are not available: ${this.detail}`
  }
}

type Problem = RulesUnavailable | InvalidInput | InvalidRule | SavedRuleNotFound | ServiceError

/** Where saved rules are. */
export class RuleStorage extends Context.Service<
  RuleStorage,
  {
    readonly all: Effect.Effect<SavedRules, Problem>
    readonly save: (name: RuleName, rule: string) => Effect.Effect<void, Problem>
    readonly remove: (name: string) => Effect.Effect<void, Problem>
  }
>()("@roster/studio/RuleStorage") {}

const refusal = (error: unknown) =>
  new RulesUnavailable({
    detail: typeof error === "string" ? error : "the process that serves this page does not answer."
  })

/** The rules of the command line, which the process of `roster studio` offers. */
export const layerRemote = Layer.effect(
  RuleStorage,
  Effect.gen(function* () {
    const calls = yield* (yield* pageClient).calls
    return RuleStorage.of({
      all: Effect.mapError(calls.rules(), refusal),
      save: (name, rule) => Effect.mapError(calls.saveRule({ name, rule }), refusal),
      remove: (name) => Effect.mapError(calls.removeRule({ name }), refusal)
    })
  })
)

/** The rules of the service, or those of another place where it keeps none. */
export const layerOfService = (elsewhere?: Layer.Layer<RuleStorage>) =>
  Layer.effect(
    RuleStorage,
    Effect.gen(function* () {
      const { removeRule, rules, saveRule } = yield* AccountService
      const or = <A>(
        there: Effect.Effect<A, Problem>,
        use: (storage: RuleStorage["Service"]) => Effect.Effect<A, Problem>
      ): Effect.Effect<A, Problem> =>
        elsewhere === undefined ? there : orWhereUntold(Effect.provide(RuleStorage.use(use), elsewhere))(there)
      return RuleStorage.of({
        all: or(Effect.map(rules, savedRulesOf), ({ all }) => all),
        save: (name, rule) => or(saveRule(name, rule), ({ save }) => save(name, rule)),
        remove: (name) => or(removeRule(name), ({ remove }) => remove(name))
      })
    })
  )

/** Where the rules of the session are. */
export const ruleStorage = Atom.keepAlive(
  Atom.make((get): Layer.Layer<RuleStorage, InvalidSettings> => {
    const current = get(session)
    const elsewhere = current?.host === undefined ? undefined : Layer.provide(layerRemote, layerCalls(current))
    return Layer.provide(layerOfService(elsewhere), get(services))
  })
)
