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
  type SavedRule,
  type SavedRuleNotFound,
  type SaveRuleOptions,
  type ServiceError
} from "@roster/domain"
import type { InvalidSettings } from "@roster/http-client"
import { Context, Data, Effect, Layer } from "effect"
import { Atom } from "effect/reactivity"
import { layerCalls, pageClient, services, session } from "../session/Session.ts"
import { ruleTexts } from "../texts/RuleTexts.ts"

/** The process of `roster studio` refused or does not answer. */
export class RulesUnavailable extends Data.TaggedError("RulesUnavailable")<{ readonly detail: string }> {
  override get message(): string {
    return ruleTexts.unavailable(this.detail)
  }
}

type Problem = RulesUnavailable | InvalidInput | InvalidRule | SavedRuleNotFound | ServiceError

/** Where saved rules are. */
export class RuleStorage extends Context.Service<
  RuleStorage,
  {
    readonly all: Effect.Effect<ReadonlyArray<SavedRule>, Problem>
    /** Saves a rule, with how the page shows its contacts where that is kept. */
    readonly save: (name: RuleName, rule: string, options: SaveRuleOptions) => Effect.Effect<void, Problem>
    readonly remove: (name: string) => Effect.Effect<void, Problem>
  }
>()("@roster/studio/RuleStorage") {}

const refusal = (error: unknown) =>
  new RulesUnavailable({
    detail: typeof error === "string" ? error : ruleTexts.noAnswer
  })

/** The rules of the command line, which the process of `roster studio` offers. */
export const layerRemote = Layer.effect(
  RuleStorage,
  Effect.gen(function* () {
    const calls = yield* (yield* pageClient).calls
    return RuleStorage.of({
      all: Effect.mapBoth(calls.rules(), {
        onSuccess: (rules) => Object.entries(rules).map(([name, rule]) => ({ name, rule })),
        onFailure: refusal
      }),
      save: (name, rule) => Effect.mapError(calls.saveRule({ name, rule }), refusal),
      remove: (name) => Effect.mapError(calls.removeRule({ name }), refusal)
    })
  })
)

const isUnknownView = (error: Problem): boolean => error._tag === "InvalidInput" && error.field === "view"

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
        all: or(rules, ({ all }) => all),
        save: (name, rule, options) =>
          or(
            // An earlier version keeps no views, and refuses what it does not know.
            Effect.catchIf(saveRule(name, rule, options), isUnknownView, () => saveRule(name, rule)),
            ({ save }) => save(name, rule, options)
          ),
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
