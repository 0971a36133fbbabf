/**
 * On every layer, each object of each method is refused with the name of a field that it does not have. The methods are those
 * of the tags of the domain, so that a new service is among them.
 */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import * as domain from "@roster/domain"
import {
  type ContactsService,
  type CredentialsService,
  type EmailsService,
  InvalidInput,
  type RunsService
} from "@roster/domain"
import { Context, Effect, Predicate, Stream } from "effect"

type Services = ContactsService | CredentialsService | EmailsService | RunsService

/** A method with how each of its arguments is checked. */
interface Checked {
  readonly name: string
  readonly method: (...given: ReadonlyArray<unknown>) => unknown
  readonly inputs: ReadonlyArray<unknown>
}

const checkedOf = (name: string, service: unknown, inputs: unknown): ReadonlyArray<Checked> => {
  if (Predicate.isFunction(service)) {
    const ofMethod: unknown = Predicate.hasProperty(inputs, "stream") ? inputs.stream : inputs
    // It is called as plain JavaScript does.
    return [{ name, method: service as Checked["method"], inputs: Array.isArray(ofMethod) ? ofMethod : [] }]
  }
  if (!Predicate.isObject(service) || !Predicate.isObject(inputs)) return []
  const methods = new Map(Object.entries(service))
  return Object.entries(inputs).flatMap(([method, input]) => checkedOf(`${name}.${method}`, methods.get(method), input))
}

const tags = Object.entries(domain).flatMap(([name, tag]) =>
  Context.isKey(tag) && Predicate.hasProperty(tag, "inputs") ? [{ name, tag, inputs: tag.inputs }] : []
)

/** The fields of an object, by which it is tried: those of each member of a tagged union. */
const objectsOf = (input: unknown): ReadonlyArray<readonly [given: object, names: ReadonlyArray<string>]> => {
  if (Predicate.hasProperty(input, "names") && Array.isArray(input.names)) return [[{}, input.names]]
  if (!Predicate.hasProperty(input, "byTag") || !Predicate.isObject(input.byTag)) return []
  return Object.entries(input.byTag).flatMap(([_tag, fields]) =>
    objectsOf(fields).map(([, names]) => [{ _tag }, names] as const)
  )
}

/** Spellings of a field that no object has: the field without its last letter, and with another one. */
const misspelt = (name: string): ReadonlyArray<string> => [name.slice(0, -1), `${name}x`]

const refusalOf = Effect.fnUntraced(function* ({ method, name }: Checked, given: ReadonlyArray<unknown>) {
  const result = method(...given)
  const call = Stream.isStream(result) ? Stream.runDrain(result) : result
  if (!Effect.isEffect(call)) return assert.fail(`${name} gives no effect`)
  // The methods of services need nothing.
  return yield* Effect.flip(call as Effect.Effect<unknown, unknown>)
})

export const unknownFieldsConformance = (it: Cases<Services>): void => {
  it.describe("input of any service", () => {
    it.effect("an object with an unknown field is refused, which names the field and the one that is meant", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Services>()
        for (const { inputs, name, tag } of tags) {
          const service = Context.getOption(context, tag as Context.Key<unknown, unknown>)
          if (service._tag === "None") continue
          for (const checked of checkedOf(name, service.value, inputs)) {
            for (const [index, input] of checked.inputs.entries()) {
              for (const [object, names] of objectsOf(input)) {
                for (const known of names.filter((known) => known !== "_tag")) {
                  for (const field of misspelt(known)) {
                    const given = checked.inputs.map((_, at) => (at === index ? { ...object, [field]: "x" } : "x"))
                    const refused = yield* refusalOf(checked, given)
                    const what = `${checked.name} with ${field}`
                    if (!(refused instanceof InvalidInput)) return assert.fail(`${what}: ${String(refused)}`)
                    assert.strictEqual(refused.field, field, what)
                    assert.include(refused.issue, `has no field "${field}"; did you mean "${known}"?`, what)
                  }
                }
              }
            }
          }
        }
      })
    )
  })
}
