/**
 * What `roster doctor` finds: one line for each thing that was looked at.
 */
import { Schema } from "effect"

/**
 * @category schemas
 * @since 0.1.0
 */
export const Finding = Schema.Struct({
  check: Schema.String,
  result: Schema.Literals(["ok", "warning", "failed"]),
  detail: Schema.String
}).pipe(Schema.encodeKeys({ check: "Check", result: "Result", detail: "Detail" }))
export type Finding = typeof Finding.Type

/**
 * @category constructors
 * @since 0.1.0
 */
export const ok = (check: string, detail: string): Finding => ({ check, result: "ok", detail })

/**
 * @category constructors
 * @since 0.1.0
 */
export const warning = (check: string, detail: string): Finding => ({ check, result: "warning", detail })

/**
 * @category constructors
 * @since 0.1.0
 */
export const failed = (check: string, detail: string): Finding => ({ check, result: "failed", detail })

/**
 * Something that was looked at is not as it has to be.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unhealthy extends Schema.TaggedError<Unhealthy>()("Unhealthy", { message: Schema.String }) {}
