/** Programs of several steps over the services: plans, undo, uploads, exports, backups and rotation. */
export * from "./access/AccessProbe.ts"
export * from "./access/KeyAudit.ts"
export * from "./bulk/Addresses.ts"
export * from "./bulk/ExportedContacts.ts"
export { type ContactSnapshot, type ReadError, type ReaderOptions } from "./runs/ContactReader.ts"
export * from "./changes/ChangeAsRun.ts"
export {
  type Import,
  importContacts,
  type ImportContactsOptions,
  type ImportOptions,
  makeImport
} from "./changes/Import.ts"
export { maximumSpoolBytes, type RowSource, SourceTooLarge, type SpoolOptions } from "./changes/RowSource.ts"
export {
  importWarnings,
  makeImportPlan,
  maximumCountedFields,
  maximumShownRows,
  planImport,
  type PlanOptions,
  type RowPlan
} from "./changes/ImportPlan.ts"
export { type AppliedPlan, type ApplyOptions, type Plan, loadPlan, PlanOutdated } from "./changes/PlanApplication.ts"
export { type FieldKinds, planConversion } from "./changes/Conversion.ts"
export { LeftValue, PlanHeader, PlannedRow, type PlanStorage, PlanSummary, UnreadablePlan } from "./changes/PlanFile.ts"
export * from "./changes/ListChanges.ts"
export * from "./changes/UpdatePlan.ts"
export {
  isWithinLimit,
  NamedRejection,
  parseRejectionLimit,
  type Rejection,
  RejectionCause,
  rejectionOf,
  type RejectionLimit
} from "./runs/Rejections.ts"
export {
  emptyReport,
  maximumNamedContacts,
  OtherTarget,
  OutdatedContact,
  NewRecipients,
  RunOutcome,
  type RunReport
} from "./runs/RunReport.ts"
export { isWhole, outcomeWords, Stopped } from "./runs/Stopped.ts"
export {
  previewUndo,
  type UndoFailure,
  type UndoOptions,
  type UndoPreviewOptions,
  type UndoReport,
  undoRun
} from "./changes/Undo.ts"
export { UndoneContact, UndoneField, type UndoScope } from "./changes/UndoStep.ts"
export * from "./words/CommandLine.ts"
export * from "./words/ReportWords.ts"
export { selectionWords } from "./words/SelectionWords.ts"
export { isOfDatabase, prepareFile, type PrepareOptions, syncFolder } from "./exports/PreparedFile.ts"
export * from "./exports/ExportedFile.ts"
export * from "./exports/ExportPolling.ts"
export * from "./exports/ExportToFile.ts"
export * from "./exports/RuleFields.ts"
export { createWithRetry, type Credential, type CredentialPayload } from "./rotation/CredentialCreation.ts"
export * from "./rotation/Rotation.ts"
export * from "./rotation/RotationOptions.ts"
export { type AppendedEntry, type Changed, type RunCounts, RunEntry } from "./runs/RunEntry.ts"
export {
  historyBy,
  historyEffect,
  historyPages,
  historyWords,
  newestHistory,
  type ShownHistory
} from "./runs/ContactHistory.ts"
export * from "./runs/ListedRuns.ts"
export { ChangedField, RunChange, type RunChanges, runChanges } from "./runs/RunChanges.ts"
export {
  type OpenRun,
  type RecordedRun,
  type Run,
  RunHeader,
  type RunInfo,
  RunLogFailure,
  RunOrigin,
  type RunTarget,
  type RunTargetOptions
} from "./runs/RecordedRun.ts"
export { RunLog } from "./runs/RunLog.ts"
export {
  addAll,
  type AddAllOptions,
  AddOutcome,
  type AddProgress,
  type BulkAddOptions,
  type ContactDraft,
  defaultAddConcurrency,
  type ItemOutcome
} from "./upload/BulkAdd.ts"
export type { Bitset } from "./upload/Bitset.ts"
export { duplicatesFile, RepeatedRow } from "./upload/RepeatedRows.ts"
export * from "./changes/RowAdds.ts"
export {
  maximumImportRows,
  maximumNamedRows,
  surveyContacts,
  type SurveyOptions,
  TooManyRows,
  type UploadSurvey
} from "./upload/UploadSurvey.ts"
