/** The records, errors, rules, CSV and service tags of Roster. Nothing here does I/O, so it runs in a browser too. */
export * from "./contacts/AddSize.ts"
export * from "./contacts/Contact.ts"
export * from "./contacts/ContactChange.ts"
export * from "./lists/ContactList.ts"
export * as ListsText from "./lists/ListsText.ts"
export * from "./contacts/ContactWrite.ts"
export * from "./contacts/RepeatedContact.ts"
export * from "./contacts/StatusLadder.ts"
export type { ContactParts } from "./contacts/ContactField.ts"
export * as ContactFields from "./contacts/ContactFields.ts"
export {
  Consent,
  ConsentTracking,
  ContactActivity,
  ContactSource,
  ContactStatus,
  CustomFields,
  isMailedStatus
} from "./contacts/ContactRecord.ts"
export * as FieldNames from "./values/FieldNames.ts"
export { canonicalEmail, EmailAddress, emailAddressIssue } from "./contacts/EmailAddress.ts"
export * as ContactSize from "./contacts/ContactSize.ts"
export * from "./credentials/ApiKey.ts"
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
export * as CredentialSettings from "./credentials/CredentialSettings.ts"
export * from "./credentials/Purpose.ts"
export * as SecretFormat from "./credentials/SecretFormat.ts"
export { noSecretText, secretText } from "./credentials/SecretText.ts"
export * from "./credentials/SmtpCredentials.ts"
export * from "./files/FileTrust.ts"
export { contactRefusal, mergedRefusal } from "./csv/ContactIssue.ts"
export * as ContactColumns from "./csv/ContactColumns.ts"
export type { RowProblem } from "./csv/CellProblems.ts"
export * from "./csv/ContactCsv.ts"
export * from "./csv/FileHeader.ts"
export { ImportMapping, ImportMappingText, mergeMappings, type ColumnMap, type ValueMap } from "./csv/ImportMapping.ts"
export type { ImportRow, RowRecord } from "./csv/ImportRow.ts"
export { rejectedFile, rejectedMapping, type RejectedRow, repeatedFile } from "./csv/RejectedRows.ts"
export { type ConsentMeaning, consentOfHeading } from "./headings/ConsentHeadings.ts"
export { type ConsentColumn, type ConsentTally, makeConsentTally } from "./headings/ConsentTally.ts"
export { statusOfWord } from "./headings/StatusWords.ts"
export { type CellForm, formOf } from "./warnings/CellForms.ts"
export { yesOrNo } from "./kinds/YesNo.ts"
export { isDateKind, kindIssue, kindName, makeKindReader } from "./kinds/ColumnKind.ts"
export * from "./kinds/StoredText.ts"
export { encodingByMark, isEncoding, UnreadableFile } from "./csv/TextDecoding.ts"
export { correctedAddress } from "./corrections/AddressCorrection.ts"
export * from "./corrections/RowCorrection.ts"
export * from "./warnings/ImportWarnings.ts"
export * from "./emails/AcceptedEmail.ts"
export * from "./emails/EmailMessage.ts"
export type { FromText } from "./errors/Constructors.ts"
export * from "./errors/TaggedError.ts"
export * from "./errors/InvalidInput.ts"
export * as KnownFields from "./errors/KnownFields.ts"
export * from "./errors/ServiceError.ts"
export * from "./jobs/ContactImport.ts"
export * from "./jobs/Export.ts"
export * from "./jobs/Job.ts"
export * from "./rules/ContactFilter.ts"
export * from "./rules/FieldUse.ts"
export * as Rule from "./Rule.ts"
export * as RuleDate from "./rules/RuleDate.ts"
export { completeRule, maximumSuggestions, type RuleCompletions, type RuleSuggestion } from "./rules/RuleCompletion.ts"
export { InvalidRule } from "./rules/RuleError.ts"
export { matchesRule, ruleJudge, ruleMatcher, type Undecided, type Verdict } from "./rules/RuleEvaluator.ts"
export * as RuleFields from "./rules/RuleFields.ts"
export * from "./rules/RuleParser.ts"
export * from "./rules/RuleTautology.ts"
export * from "./rules/RuleTemplate.ts"
export * from "./rules/RuleText.ts"
export * from "./rules/Unplaced.ts"
export { givenName } from "./saved/GivenName.ts"
export * from "./saved/SavedRule.ts"
export { ContactState, FieldChanges, FieldValue } from "./runs/ContactState.ts"
export * as ContactStates from "./runs/ContactState.ts"
export {
  ContactHistory,
  HistoryEntry,
  type HistoryPage,
  historyCursor,
  type HistoryPosition,
  readHistoryPage
} from "./runs/ContactHistory.ts"
export * from "./runs/RecordedChange.ts"
export * from "./runs/RunErrors.ts"
export * from "./runs/RunRecord.ts"
export * from "./services/AccountService.ts"
export * from "./services/CheckedMethods.ts"
export * from "./services/CheckedService.ts"
export * from "./services/ContactReads.ts"
export * from "./services/ContactsPage.ts"
export * from "./services/ContactsService.ts"
export * from "./services/CredentialsService.ts"
export * from "./services/EmailsService.ts"
export * from "./services/KeyedCall.ts"
export * from "./services/ListsService.ts"
export * from "./services/RunsService.ts"
export * as FaultPlan from "./testing/FaultPlan.ts"
export * from "./testing/LayerTest.ts"
export * from "./testing/Simulator.ts"
export * from "./services/CertainAbsence.ts"
export * from "./services/DownloadNotice.ts"
export * from "./services/PollHint.ts"
export * as Pagination from "./services/Pagination.ts"
export * from "./tracing/SpanRedaction.ts"
export * from "./values/AccessLevel.ts"
export { toleratedText } from "./values/OptionalField.ts"
export * from "./values/Bytes.ts"
export { makeEmptyRecord } from "./values/EmptyRecord.ts"
export * as Characters from "./values/Characters.ts"
export * as JsonParser from "./values/JsonParser.ts"
export { isLoopbackHost } from "./values/LoopbackHost.ts"
export { codeField, type Named, UnknownValue, wireField } from "./values/WireRecord.ts"
export * as StrictJson from "./values/StrictJson.ts"
export { formatWireDate, parseWireDate, WireDate } from "./values/WireDate.ts"
