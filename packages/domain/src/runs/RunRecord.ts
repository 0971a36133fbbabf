/** A run as the service records it, what begins one, and the bounds of what a client says of it. (docs/decisions/runs.md) */
import { Context, type Effect, Schema } from "effect"
import { explained } from "../errors/Constructors.ts"
import { type InvalidInput, validated } from "../errors/InvalidInput.ts"
import { requestField } from "../values/OptionalField.ts"
import { isRecordId, recordIdPattern } from "../values/Bytes.ts"
import { WireDate } from "../values/WireDate.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"

/** The maximum length of the name of a command. */
export const maximumCommand = 64

/** The maximum length of what a run is of, and of what it works on. */
export const maximumRunText = 1000

/** The maximum length of the state of a step. */
export const maximumStep = 65_536

const textOf = (most: number) =>
  Schema.String.check(
    Schema.makeFilter((text) =>
      text !== "" && text.length <= most && text.isWellFormed() && !text.includes("\0")
        ? undefined
        : `it is a text of 1 to ${most} characters`
    )
  )

/** How far a program of other steps is. */
export const RunStep = payloadRecord("a step", {
  /** The state of the program, a text of at most 65,536 characters. It holds no secret. */
  state: textOf(maximumStep)
}).annotate({ identifier: "RunStep" })
export interface RunStep extends Schema.Schema.Type<typeof RunStep> {}

const readStep = validated(RunStep)

/** Checks the state of a step, with the same message on every layer. */
export const checkStep = (state: string): Effect.Effect<RunStep, InvalidInput> => readStep({ state })

/** The id that a write names; a text that is none names no run that there is. */
export const runIdOf = (text: string): string => (isRecordId(text) ? text : "-")

/** What begins a run. The service adds the key and the time. */
export class RunPayload extends Schema.Opaque<RunPayload>()(
  explained(
    payloadRecord("a run", {
      /** The command or program, such as `import`. */
      command: textOf(maximumCommand),
      /** What it is of, in words: the name of a file, or a rule. */
      about: requestField(textOf(maximumRunText)),
      /**
       * What the run works on, such as the digest of a file. Of one command and input one run is open, and a run that was left
       * resumes. Without it the run is like no other.
       */
      input: requestField(textOf(maximumRunText)),
      /** The id of the run that this one undoes. If nobody is at work on that any more, it ends. */
      undoes: requestField(Schema.String.check(Schema.isPattern(recordIdPattern, { expected: "the id of a run" }))),
      /** Whether a run that was left resumes (default: true). With `false` it ends, and a new one begins. */
      resume: requestField(Schema.Boolean)
    }).annotate({ identifier: "RunPayload" })
  )
) {}

const fields = {
  /** The id of the run, which begins with its time. */
  id: Schema.String,
  /** The command or program, such as `import`. */
  command: Schema.String,
  /** What it is of, in words. */
  about: Schema.optionalKey(Schema.String),
  /** The digest of what it works on. */
  input: Schema.optionalKey(Schema.String),
  /** The id of the run that it undoes. */
  undoes: Schema.optionalKey(Schema.String),
  /** The name that the key which began it had then; `null` for the owner of the store. */
  key: Schema.NullOr(Schema.String),
  /** When it began. */
  began: WireDate,
  /** When it ended; `null` before. */
  ended: Schema.NullOr(WireDate),
  /** Whether somebody is at work on it: it wrote within the last minute, or a job writes for it. */
  isTaken: Schema.Boolean,
  /** The number of the last recorded change, and so how many there are. */
  changes: Schema.Int,
  /** The number of contacts that it created. */
  created: Schema.Int,
  /** The number of contacts that it changed, not only in the date of a status. */
  changed: Schema.Int,
  /** The number of contacts that it deleted. */
  deleted: Schema.Int,
  /** How far a program of other steps is. */
  step: Schema.optionalKey(Schema.String)
}

/** A run as the service records it. */
export class RunRecord extends Schema.Opaque<RunRecord>()(wireRecord(fields).annotate({ identifier: "Run" })) {}

/** A run that was begun or resumed. */
export class BegunRun extends Schema.Opaque<BegunRun>()(
  wireRecord({
    ...fields,
    /** Whether an earlier process began it. */
    isResumed: Schema.Boolean
  }).annotate({ identifier: "BegunRun" })
) {}

/** How work on a run ends. */
export interface EndOfRun {
  /** Whether the run goes on later, at once if somebody begins it again (default: it ends). */
  readonly resumable?: boolean | undefined
}

/**
 * The run that the writes of the current fiber are a part of (default: none). The service records what they change, in their
 * own transactions. A reference, since every method that writes takes it and none acts on it.
 */
export const NamedRun = Context.Reference<string | undefined>("@roster/domain/NamedRun", {
  defaultValue: () => undefined
})
