/** The errors of runs. */
import { Schema } from "effect"
import { TaggedError } from "../errors/TaggedError.ts"

/** Another process, or another fiber of this one, is at work on the run, or on the same input. */
export class RunTaken extends TaggedError<RunTaken>()("RunTaken", {
  /** Its id, or its command if it has written nothing yet. */
  run: Schema.String
}) {
  override get message(): string {
    return `The run ${this.run} is going on elsewhere. Try again when it has ended.`
  }
}

/** There is no run of this id. */
export class RunNotFound extends TaggedError<RunNotFound>()("RunNotFound", {
  /** The id that was asked for. */
  run: Schema.String
}) {
  override get message(): string {
    return `There is no run ${this.run}.`
  }
}
