/**
 * What `roster doctor` finds: one line for each thing that was looked at.
 */
import { Schema } from "effect"

export const Finding = Schema.Struct({
  check: Schema.String,
  result: Schema.Literals(["ok", "warning", "failed"]),
  detail: Schema.String
}).pipe(Schema.encodeKeys({ check: "Check", result: "Result", detail: "Detail" }))
export type Finding = typeof Finding.Type

export const ok = (check: string, detail: string): Finding => ({ check, result: "ok", detail })

export const warning = (check: string, detail: string): Finding => ({ check, result: "warning", detail })

export const failed = (check: string, detail: string): Finding => ({ check, result: "failed", detail })

/** Something that was looked at is not as it has to be. */
export class Unhealthy extends Schema.TaggedError<Unhealthy>()("Unhealthy", { message: Schema.String }) {}
