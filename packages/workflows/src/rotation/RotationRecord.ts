/**
 * What a rotation has to remember between two runs, which the service does not tell: that the new secret was handed over.
 * Without secrets.
 */
import { Effect, Ref, Schema } from "effect"
import { WireDate } from "@roster/domain"

export const RotationRecord = Schema.Struct({
  /** The name of the successor, written down before it is made. */
  successor: Schema.String,
  /** When the service says that the successor was made: another one of the same name is another one. */
  created: Schema.optionalKey(WireDate),
  /**
   * `Started`: a successor may have been made. `Delivered`: its secret was handed over. `Retired`: the old one is gone, and
   * the successor takes its name.
   */
  phase: Schema.Literals(["Started", "Delivered", "Retired"])
})
export type RotationRecord = typeof RotationRecord.Type

/** Where the record of one rotation is kept. What `save` was given has to survive the process when it ends. */
export interface RotationJournal<E = never> {
  readonly load: Effect.Effect<RotationRecord | undefined, E>
  readonly save: (record: RotationRecord) => Effect.Effect<void, E>
  readonly clear: Effect.Effect<void, E>
}

/**
 * A journal that is gone with the process: a run that follows knows of no delivery, and makes a successor that nobody has
 * used anew.
 */
export const rotationJournalMemory: Effect.Effect<RotationJournal> = Effect.map(
  Ref.make<RotationRecord | undefined>(undefined),
  (kept) => ({ load: Ref.get(kept), save: (record) => Ref.set(kept, record), clear: Ref.set(kept, undefined) })
)
