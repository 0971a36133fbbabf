/** The tag of the operations on runs, which the service records. Every layer keeps the same promises. (docs/decisions/runs.md) */
import type { Effect } from "effect"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import { fieldsOf } from "../values/UnknownNames.ts"
import type { ServiceError } from "../errors/ServiceError.ts"
import type { RecordedChange, RunChangesPage, RunsPage } from "../runs/RecordedChange.ts"
import type { RunNotFound, RunTaken } from "../runs/RunErrors.ts"
import type { BegunRun, EndOfRun, RunPayload, RunRecord } from "../runs/RunRecord.ts"
import { CheckedService, keyedFields } from "./CheckedService.ts"
import type { IdempotencyKeyReused, KeyedCall } from "./KeyedCall.ts"

/**
 * The operations on runs, the same on every layer. The service keeps what each write of a run changes, in the transaction of
 * that write; a write is a part of the run that `NamedRun` names.
 */
export class RunsService extends CheckedService<
  RunsService,
  {
    /** Whether the service records runs. One of another make does not, and refuses all of these operations. */
    readonly areKept: Effect.Effect<boolean, ServiceError>
    /**
     * Begins a run, or resumes the open one of the same command and input that nobody is at work on. `runsPost`, needs
     * ModifyContacts, and ViewContacts too to undo a run.
     */
    readonly begin: (
      run: RunPayload,
      options?: KeyedCall
    ) => Effect.Effect<BegunRun, RunTaken | RunNotFound | IdempotencyKeyReused | InvalidInput | ServiceError>
    /**
     * Ends a run; one that has ended stays so. One that another key began can be ended once nobody is at work on it. One that is
     * `resumable` is left and does not end: the same command and input resumes it.
     * `runsByIdEndPost`, needs ModifyContacts, and ViewContacts too for the run of another key.
     */
    readonly end: (
      id: string,
      options?: EndOfRun
    ) => Effect.Effect<void, RunNotFound | RunTaken | InvalidInput | ServiceError>
    /** Says how far a program of other steps is: the last one counts. It holds no secret. `runsByIdStepPost`, needs ModifyContacts. */
    readonly step: (id: string, state: string) => Effect.Effect<void, RunNotFound | InvalidInput | ServiceError>
    /** Lists runs, the newest first. `runsGet`, needs ViewContacts. */
    readonly list: (
      page?: RunsPage
    ) => Effect.Effect<ReadonlyArray<RunRecord>, RunNotFound | InvalidInput | ServiceError>
    /** Gets a run. `runsByIdGet`, needs ViewContacts. */
    readonly get: (id: string) => Effect.Effect<RunRecord, RunNotFound | ServiceError>
    /** A page of the changes of a run, from the first on or from the last back. `runsByIdChangesGet`, needs ViewContacts. */
    readonly changes: (
      id: string,
      page?: RunChangesPage
    ) => Effect.Effect<ReadonlyArray<RecordedChange>, RunNotFound | InvalidInput | ServiceError>
    /**
     * Replaces changes of a run by ones without a person, which keep their numbers. `runsByIdErasePost`, needs ModifyContacts
     * and ViewContacts.
     */
    readonly erase: (
      id: string,
      numbers: ReadonlyArray<number>
    ) => Effect.Effect<void, RunNotFound | InvalidInput | ServiceError>
  }
>()("@roster/domain/RunsService", {
  begin: ["Own", keyedFields],
  end: [null, fieldsOf<EndOfRun>("the end of a run", { resumable: true })],
  step: [null, null],
  list: [fieldsOf<RunsPage>("a page of runs", { limit: true, before: true })],
  get: [null],
  changes: [null, fieldsOf<RunChangesPage>("a page of changes", { limit: true, after: true, before: true })],
  erase: [null, null]
}) {}
