/** Programs of several steps over the three services: plans, undo, uploads, exports, backups and rotation. */
export * from "./access/AccessProbe.ts"
export * from "./access/KeyAudit.ts"
export * from "./bulk/Backup.ts"
export * from "./bulk/BulkDelete.ts"
export * from "./changes/ApplyPlan.ts"
export { type ContactLookup, type LookupOptions, makeContactLookup } from "./changes/ContactLookup.ts"
export { ContactState, FieldChanges, FieldValue } from "./runs/ContactState.ts"
export * from "./changes/ImportPlan.ts"
export { makeRecorder, recordedContacts, type Recorder, type RecordOptions } from "./changes/RecordedContacts.ts"
export * from "./changes/RunRecord.ts"
export * from "./changes/Undo.ts"
export { prepareFile, type PrepareOptions, syncFolder } from "./exports/PreparedFile.ts"
export * from "./exports/ExportPolling.ts"
export * from "./exports/ExportToFile.ts"
export { createWithRetry } from "./rotation/CredentialCreation.ts"
export * from "./rotation/Rotation.ts"
export * from "./rotation/RotationOptions.ts"
export { type RotationState, RotationStep } from "./rotation/RotationState.ts"
export { type AppendedEntry, type Changed, type RowRange, type RunCounts, RunEntry } from "./runs/RunEntry.ts"
export {
  type OpenRun,
  type RecordedRun,
  type Run,
  RunHeader,
  type RunInfo,
  RunLog,
  RunLogFailure,
  RunNotFound,
  RunTaken
} from "./runs/RunLog.ts"
export * from "./upload/BulkAdd.ts"
export type { Bitset } from "./upload/DuplicateIndex.ts"
export * from "./upload/RowAdds.ts"
export { readAt } from "./upload/UnnamedFile.ts"
export * from "./upload/Upload.ts"
export * from "./upload/UploadJournal.ts"
export * from "./upload/UploadSurvey.ts"
