/** The records, errors, rules, CSV and service tags of Roster. Nothing here does I/O, so it runs in a browser too. */
export {
  maximumAddBytes,
  maximumLists,
  maximumListsOfContact,
  maximumListName,
  maximumPlaces
} from "./contacts/AddSize.ts"
export {
  Contact,
  type ContactInput,
  ContactPayload,
  fieldOf,
  ContactUpdatePayload,
  maximumContactsPerAdd,
  TooManyContacts,
  ContactNotFound
} from "./contacts/Contact.ts"
export {
  maximumChanges,
  ContactChange,
  ChangeAnswer,
  ChangeAnswerRecord,
  judgeChange
} from "./contacts/ContactChange.ts"
export * from "./lists/ContactList.ts"
export * as ListsText from "./lists/ListsText.ts"
export { ContactContent, ContactWrite, type Content } from "./contacts/ContactWrite.ts"
export { OnDuplicate } from "./contacts/RepeatedContact.ts"
export { type AddMode, withheldStatuses } from "./values/AddMode.ts"
export {
  type WithheldStatus,
  Resubscribe,
  type KeptStatus,
  KeptStatusRow,
  keptStatuses
} from "./contacts/StatusLadder.ts"
export {
  Consent,
  ConsentTracking,
  ContactActivity,
  ContactSource,
  ContactStatus,
  CustomFields,
  isMailedStatus
} from "./contacts/ContactRecord.ts"
export { canonicalEmail, EmailAddress, emailAddressIssue } from "./contacts/EmailAddress.ts"
export * as ContactSize from "./contacts/ContactSize.ts"
export {
  ApiKey,
  NewApiKey,
  ApiKeyUpdatePayload,
  type ApiKeyInput,
  type ApiKeyForPurposes,
  ApiKeyPayload
} from "./credentials/ApiKey.ts"
export {
  CredentialName,
  CredentialNotFound,
  IpRange,
  LastManagingKey,
  maximumCredentials,
  maximumKeptCredentials,
  maximumIpRanges,
  NameTaken,
  TooManyCredentials
} from "./credentials/Credential.ts"
export * from "./credentials/AuditEntry.ts"
export * from "./credentials/CallingKey.ts"
export { type Purpose, purposes, accessFor } from "./credentials/Purpose.ts"
export {
  SmtpCredentials,
  NewSmtpCredentials,
  SmtpCredentialsPayload,
  type SmtpInput,
  SmtpUpdatePayload
} from "./credentials/SmtpCredentials.ts"
export { readContacts, lookAtRows } from "./csv/ContactCsv.ts"
export * from "./csv/FileHeader.ts"
export { ImportMapping, type ColumnMap, type ValueMap } from "./csv/ImportMapping.ts"
export type { ImportRow, RowRecord } from "./csv/ImportRow.ts"
export { rejectedFile, type RejectedRow } from "./csv/RejectedRows.ts"
export { UnreadableFile } from "./csv/TextDecoding.ts"
export { WarningCode, ImportWarning } from "./warnings/ImportWarnings.ts"
export * from "./emails/AcceptedEmail.ts"
export * from "./emails/EmailMessage.ts"
export type { FromText } from "./errors/Constructors.ts"
export * from "./errors/TaggedError.ts"
export { InvalidInput } from "./errors/InvalidInput.ts"
export * from "./errors/ServiceError.ts"
export { ImportSource, type ImportOptions, ImportRefused } from "./jobs/ContactImport.ts"
export * from "./jobs/Export.ts"
export * from "./jobs/Job.ts"
export { ContactFilter, maximumEmailsPerDelete, ConflictingFilter, EmailsPayload } from "./rules/ContactFilter.ts"
export {
  AccountOverview,
  AccountSummary,
  ListCount,
  maximumOverviewAge,
  MonthCount,
  StatusCount
} from "./jobs/Overview.ts"
export { FieldUse, FieldsInUse, maximumFieldsInUse, makeFieldCount } from "./rules/FieldUse.ts"
export * as Rule from "./Rule.ts"
export { completeRule, maximumSuggestions, type RuleCompletions, type RuleSuggestion } from "./rules/RuleCompletion.ts"
export { InvalidRule } from "./rules/RuleError.ts"
export { matchesRule, ruleMatcher, type Verdict } from "./rules/evaluation/RuleEvaluator.ts"
export { maximumRuleDepth, maximumRuleConditions, type ParseRuleOptions, parseRule } from "./rules/RuleParser.ts"
export * from "./rules/RuleTemplate.ts"
export { RuleText, printRule, RawRule, checkRule } from "./rules/RuleText.ts"
export { Unplaced, ContactCount } from "./rules/evaluation/Unplaced.ts"
export {
  RuleName,
  SavedRules,
  maximumSavedRules,
  SavedRule,
  SavedRulePayload,
  type SaveRuleOptions,
  maximumRuleView,
  SavedRuleNotFound
} from "./saved/SavedRule.ts"
export { ContactState, FieldChanges, FieldValue } from "./runs/ContactState.ts"
export { ContactHistory, HistoryEntry, type HistoryPage } from "./runs/ContactHistory.ts"
export {
  StatusDate,
  RecordedChange,
  maximumChangesPerPage,
  type RunChangesPage,
  type RunsPage,
  maximumErased,
  ErasedNumbers
} from "./runs/RecordedChange.ts"
export * from "./runs/RunErrors.ts"
export {
  maximumCommand,
  maximumRunText,
  maximumStep,
  RunStep,
  RunPayload,
  RunRecord,
  BegunRun,
  type EndOfRun,
  NamedRun
} from "./runs/RunRecord.ts"
export {
  AccountService,
  orWhereUntold,
  auditEntries,
  allJobs,
  acceptedEmails,
  rejectedRowsFile
} from "./services/AccountService.ts"
export * from "./services/CheckedMethods.ts"
export { type Inputs, CheckedService } from "./services/CheckedService.ts"
export { maximumLookup, ContactLookup, ContactSearch, type FoundContacts } from "./services/ContactReads.ts"
export {
  contactOrders,
  maximumContactsPerPage,
  maximumSortedOffset,
  type ContactOrder,
  type ContactsFrom,
  type ContactsPage,
  type ListContactsPage
} from "./services/ContactsPage.ts"
export * from "./services/ContactsService.ts"
export * from "./services/CredentialsService.ts"
export * from "./services/EmailsService.ts"
export {
  type KeyedCall,
  maximumIdempotencyKey,
  IdempotencyKeyReused,
  IdempotencyKeyInUse,
  CallName
} from "./services/KeyedCall.ts"
export * from "./services/ListsService.ts"
export * from "./services/RunsService.ts"
export * as FaultPlan from "./testing/FaultPlan.ts"
export * from "./testing/LayerTest.ts"
export * from "./testing/Simulator.ts"
export { beforeWriting } from "./services/CertainAbsence.ts"
export * from "./services/DownloadNotice.ts"
export * as Pagination from "./services/Pagination.ts"
export { TraceSubjects } from "./tracing/SpanRedaction.ts"
export { AccessLevel, ReportedAccessLevel } from "./values/AccessLevel.ts"
export { type Named, UnknownValue } from "./values/WireRecord.ts"
export { WireDate } from "./values/WireDate.ts"
