/** What the other packages of Roster need of this one. It changes without notice, so programs do without it. */
export { exceedsAdd, exceedsLists, exceedsPlaces, checkPlaces, checkAddSize } from "./contacts/AddSize.ts"
export { sentPart } from "./contacts/Contact.ts"
export { checkChangedPlaces, encodeChanges, exactAnswer, payloadOfChange } from "./contacts/ContactChange.ts"
export {
  writeOf,
  contentOf,
  contentAfter,
  withContent,
  type WrittenBy,
  newContact,
  saidAgain,
  contactAfter,
  sameContent,
  listsAfter,
  areListsSo
} from "./contacts/ContactWrite.ts"
export {
  type RepeatOptions,
  repeatedSizeIssue,
  mergedStatus,
  type StatusNotes,
  makeStatusNotes,
  mergedContact
} from "./contacts/RepeatedContact.ts"
export { leavesOut, modeFields, resubscribeIssue } from "./values/AddMode.ts"
export {
  strictnessOf,
  stricterStatus,
  everyStatus,
  resubscribeText,
  resubscribeIn,
  isLifted,
  wouldLower,
  isEveryLifted,
  statusAfter,
  mayBeKept
} from "./contacts/StatusLadder.ts"
export type { ContactParts } from "./contacts/ContactField.ts"
export * as ContactFields from "./contacts/ContactFields.ts"
export * as FieldNames from "./values/FieldNames.ts"
export { readApiKeyPayload, readApiKeyChanges } from "./credentials/ApiKey.ts"
export { readSmtpPayload, readSmtpChanges } from "./credentials/SmtpCredentials.ts"
export * as CredentialSettings from "./credentials/CredentialSettings.ts"
export { parsePurpose, parsePurposes, levelPowers, accessOf } from "./credentials/Purpose.ts"
export * as SecretFormat from "./credentials/SecretFormat.ts"
export { noSecretText, secretText } from "./credentials/SecretText.ts"
export * from "./files/FileTrust.ts"
export { contactRefusal, listsRefusal, mergedRefusal } from "./csv/ContactIssue.ts"
export * as ContactColumns from "./csv/ContactColumns.ts"
export type { RowProblem } from "./csv/CellProblems.ts"
export { contactOf } from "./csv/ContactCsv.ts"
export { ImportMappingText, mergeMappings } from "./csv/ImportMapping.ts"
export { rejectedMapping, repeatedFile } from "./csv/RejectedRows.ts"
export { type ConsentMeaning, consentOfHeading } from "./headings/ConsentHeadings.ts"
export { type ConsentColumn, type ConsentTally, makeConsentTally } from "./headings/ConsentTally.ts"
export { statusOfWord } from "./headings/StatusWords.ts"
export { type CellForm, formOf } from "./warnings/CellForms.ts"
export { yesOrNo } from "./kinds/YesNo.ts"
export { isDateKind, kindIssue, kindName, makeKindReader } from "./kinds/ColumnKind.ts"
export * from "./kinds/StoredText.ts"
export { encodingByMark, isEncoding } from "./csv/TextDecoding.ts"
export { correctedAddress } from "./corrections/AddressCorrection.ts"
export { type LikelyReading, likelyReading, type TrialOptions } from "./corrections/LikelyReading.ts"
export * from "./corrections/RowCorrection.ts"
export { proposedColumns } from "./csv/HeaderProposals.ts"
export { kindShare, makeConsentWarnings, type ImportWarnings, makeImportWarnings } from "./warnings/ImportWarnings.ts"
export {
  isAddressable,
  notAddressable,
  invalidInput,
  refusedVariable,
  validated,
  inputProblem,
  schemaProblem
} from "./errors/InvalidInput.ts"
export * as KnownFields from "./errors/KnownFields.ts"
export * from "./errors/RunRefusals.ts"
export { importNotGuarded } from "./jobs/ContactImport.ts"
export { checkFilter, contactFilterFromInput } from "./rules/ContactFilter.ts"
export { exampleOf } from "./rules/FieldUse.ts"
export { rawFieldTest } from "./rules/evaluation/RawFieldTest.ts"
export * as RuleDate from "./rules/RuleDate.ts"
export { ruleJudge, type Undecided } from "./rules/evaluation/RuleEvaluator.ts"
export { invalidRuleWords } from "./rules/RuleError.ts"
export * as RuleFields from "./rules/RuleFields.ts"
export { customFieldsOf, fieldHints } from "./rules/RuleParser.ts"
export * from "./rules/RuleTautology.ts"
export { type ContactRule, rawRule, ruleSource } from "./rules/RuleText.ts"
export { mayLeaveUnplaced, makeRuleCount, unplacedText } from "./rules/evaluation/Unplaced.ts"
export { givenName } from "./saved/GivenName.ts"
export {
  checkRuleName,
  checkRuleView,
  tooManySavedRules,
  isSavedRule,
  ruleOf,
  savedRulesOf,
  withRule,
  withoutRule,
  completeSavedRule
} from "./saved/SavedRule.ts"
export { type AddressList, longestAddressList, readAddressList } from "./search/AddressList.ts"
export * as RuleFilters from "./search/RuleFilters.ts"
export { readSearch, searchAsWords, type SearchText, searchTextOf } from "./search/SearchText.ts"
export { quoteText } from "./rules/RuleLexer.ts"
export * as ContactStates from "./runs/ContactState.ts"
export { historyCursor, type HistoryPosition, readHistoryPage } from "./runs/ContactHistory.ts"
export {
  timeOfAdding,
  isTimeOfAdding,
  statusTime,
  statusDateOf,
  toldStatusDate,
  statusDateIn,
  ChangeContent,
  type ChangeOfContact,
  changeOf,
  erasedChange,
  checkRunsPage,
  checkRunPage
} from "./runs/RecordedChange.ts"
export { checkStep, runIdOf } from "./runs/RunRecord.ts"
export { checkAuditPage } from "./services/AccountService.ts"
export { keyedFields } from "./services/CheckedService.ts"
export { checkLookup } from "./services/ContactReads.ts"
export { checkPage, isSorted } from "./services/ContactsPage.ts"
export { isIdempotencyKey, checkIdempotencyKey, withoutOwnKey } from "./services/KeyedCall.ts"
export { CertainAbsence } from "./services/CertainAbsence.ts"
export * from "./services/PollHint.ts"
export {
  type SpanRedactionOptions,
  redactCause,
  loggedCause,
  redactSpans,
  redactStreamSpans,
  redactLayerSpans,
  fnRedacted
} from "./tracing/SpanRedaction.ts"
export { untoldLevel } from "./values/AccessLevel.ts"
export { toleratedText } from "./values/OptionalField.ts"
export * from "./values/Bytes.ts"
export { makeEmptyRecord } from "./contacts/FastContactCodec.ts"
export * as Characters from "./values/Characters.ts"
export * as JsonParser from "./values/JsonParser.ts"
export { isLoopbackHost } from "./values/LoopbackHost.ts"
export { codeField, wireField } from "./values/WireRecord.ts"
export * as StrictJson from "./values/StrictJson.ts"
export { formatWireDate, parseWireDate } from "./values/WireDate.ts"
