/** Constructors that say what is wrong. Those of a plain schema throw "Schema validation failed". */
import { Effect, Schema, SchemaIssue, SchemaParser } from "effect"
import { type InvalidInput, invalidInput } from "./InvalidInput.ts"

/** A schema of texts that are checked at run time too. */
export interface FromText<A, E> {
  /** Checks a text. Unlike `make`, it fails and does not throw. */
  readonly fromText: (text: string) => Effect.Effect<A, E>
}

type Explain<E> = (issue: SchemaIssue.Issue, input: unknown) => E

const explainBy = <S extends Schema.Constraint, E extends Error>(schema: S, explain: Explain<E>): S => {
  const make = SchemaParser.make(schema)
  const value = (input: S["~type.make.in"], options?: Schema.MakeOptions): S["Type"] => {
    try {
      return make(input, options)
    } catch (error) {
      throw error instanceof Error && SchemaIssue.isIssue(error.cause) ? explain(error.cause, input) : error
    }
  }
  return Object.defineProperty(schema, "make", { value })
}

const toInvalidInput =
  (whole?: string): Explain<InvalidInput> =>
  (issue) =>
    invalidInput(new Schema.SchemaError(issue), whole)

/** Makes the `make` of a new schema throw `InvalidInput`; `whole` is the field of an issue with the input itself. */
export const explained = <S extends Schema.Constraint>(schema: S, whole?: string): S =>
  explainBy(schema, toInvalidInput(whole))

/** Adds `fromText` to a new schema of texts, and makes its `make` throw the same error. */
export const fromTextBy = <S extends Schema.Constraint & { readonly "~type.make.in": string }, E extends Error>(
  schema: S,
  explain: Explain<E>
): S & FromText<S["Type"], E> => {
  const makeEffect = SchemaParser.makeEffect(schema)
  return Object.assign(explainBy(schema, explain), {
    fromText: (text: string) => Effect.mapError(makeEffect(text), (issue) => explain(issue, text))
  })
}

/** Adds `fromText`, which fails with `InvalidInput` for a field, to a new schema of texts. */
export const withFromText = <S extends Schema.Constraint & { readonly "~type.make.in": string }>(
  schema: S,
  field: string
): S & FromText<S["Type"], InvalidInput> => fromTextBy(schema, toInvalidInput(field))
