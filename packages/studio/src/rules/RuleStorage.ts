/**
 * Where saved rules are: behind `roster studio` those of the command line, and elsewhere in memory, which the browser keeps until
 * the person signs out if they ask for it.
 */
import { type InvalidInput, type RuleName, SavedRules, withoutRule, withRule } from "@roster/domain"
import { Context, Data, Effect, Layer, Schema } from "effect"
import { Atom } from "effect/reactivity"
import { layerCalls, pageClient, session } from "../session/Session.ts"

/** The saved rules, and where they are: `memory` ends with the page. */
export interface KeptRules {
  readonly rules: SavedRules
  readonly place: "commandLine" | "browser" | "memory"
}

/** The place of saved rules refused or does not answer. */
export class RulesUnavailable extends Data.TaggedError("RulesUnavailable")<{ readonly detail: string }> {
  override get message(): string {
    return `The saved rules are not available: ${this.detail}`
  }
}

type Problem = RulesUnavailable | InvalidInput

/** Where saved rules are. */
export class RuleStorage extends Context.Service<
  RuleStorage,
  {
    readonly all: Effect.Effect<KeptRules, Problem>
    readonly save: (name: RuleName, rule: string) => Effect.Effect<void, Problem>
    readonly remove: (name: string) => Effect.Effect<void, Problem>
    /** Whether the browser keeps them, if it is the browser that has them. */
    readonly keep: (isKept: boolean) => Effect.Effect<void, Problem>
  }
>()("@roster/studio/RuleStorage") {}

/** What a browser keeps. */
export type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">

const text = Schema.fromJsonString(SavedRules)
const encode = Schema.encodeSync(text)
const decode = Schema.decodeUnknownOption(text)

const keepsNothing = () => new RulesUnavailable({ detail: "this browser keeps nothing for this page." })

/** Rules in memory, which the storage of a browser has too if it is asked to. */
export const layerMemory = (options: { readonly storage?: BrowserStorage | undefined; readonly key: string }) =>
  Layer.sync(RuleStorage, () => {
    const { key, storage } = options
    const kept = decode(storage?.getItem(key))
    let rules = kept._tag === "Some" ? kept.value : {}
    let isKept = kept._tag === "Some"
    const change = (changed: SavedRules, keeps: boolean) =>
      Effect.try({
        try: () => {
          if (keeps) storage?.setItem(key, encode(changed))
          else if (isKept) storage?.removeItem(key)
          rules = changed
          isKept = keeps
        },
        catch: keepsNothing
      })
    return RuleStorage.of({
      all: Effect.sync(() => ({ rules, place: isKept ? "browser" : "memory" })),
      save: (name, rule) =>
        Effect.flatMap(
          Effect.suspend(() => Effect.fromResult(withRule(rules, name, rule))),
          (changed) => change(changed, isKept)
        ),
      remove: (name) => Effect.suspend(() => change(withoutRule(rules, name), isKept)),
      keep: (keeps) => Effect.suspend(() => change(rules, keeps))
    })
  })

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
      all: Effect.mapError(calls.rules(), refusal).pipe(Effect.map((rules) => ({ rules, place: "commandLine" }))),
      save: (name, rule) => Effect.mapError(calls.saveRule({ name, rule }), refusal),
      remove: (name) => Effect.mapError(calls.removeRule({ name }), refusal),
      keep: () => Effect.void
    })
  })
)

/** Where the rules of the session are. A test puts another place here. */
export const ruleStorage = Atom.keepAlive(
  Atom.make((get): Layer.Layer<RuleStorage> => {
    const current = get(session)
    // Tests have no session, and no browser.
    if (current === undefined) return layerMemory({ key: "" })
    return current.host === undefined
      ? layerMemory({ storage: globalThis.localStorage, key: `roster.rules ${current.baseUrl}` })
      : Layer.provide(layerRemote, layerCalls(current))
  })
)
