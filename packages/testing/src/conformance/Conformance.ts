/**
 * The conformance suite: the behaviour that all layers of the services share, the embedded store as well as the HTTP
 * client in front of a server. No case knows which layer it runs on.
 *
 * The cases run in one account, each in a part of it that no other case uses (`Place`). Some need more of the account,
 * which they say in their `needs`; a program that cannot give it passes over them. They wait for conditions of background
 * work, so they run on the real clock and not on a `TestClock`, and they may run at the same time.
 */
import type {
  AccessLevel,
  AccountService,
  ContactsService,
  CredentialsService,
  EmailsService,
  ListsService,
  RunsService
} from "@roster/domain"
import { accountConformance } from "./AccountConformance.ts"
import {
  contactsAbsentConformance,
  credentialsAbsentConformance,
  emailsAbsentConformance
} from "./AbsentConformance.ts"
import { badContactsConformance, badCredentialsConformance, badMessagesConformance } from "./BadInputConformance.ts"
import { casesOf, type Cases, type ConformanceCase, type Need } from "./cases/Cases.ts"
import { addReachConformance } from "./contacts/AddReachConformance.ts"
import { addWithoutAnswerConformance } from "./contacts/AddWithoutAnswerConformance.ts"
import { consentConformance } from "./contacts/ConsentConformance.ts"
import { contactChangeConformance } from "./contacts/ContactChangeConformance.ts"
import { contactBoundsConformance } from "./contacts/ContactBoundsConformance.ts"
import { contactListConformance } from "./contacts/ContactListConformance.ts"
import { contactsConformance } from "./contacts/ContactsConformance.ts"
import { contactOrderConformance } from "./contacts/ContactOrderConformance.ts"
import { contactReadsConformance } from "./contacts/ContactReadsConformance.ts"
import { contactTextConformance } from "./contacts/ContactTextConformance.ts"
import { customFieldsConformance } from "./contacts/CustomFieldsConformance.ts"
import { readAfterWriteConformance } from "./contacts/ReadAfterWriteConformance.ts"
import { roundTripConformance } from "./contacts/RoundTripConformance.ts"
import { upsertConformance } from "./contacts/UpsertConformance.ts"
import { credentialKindsConformance } from "./credentials/CredentialKindsConformance.ts"
import { credentialReadsConformance } from "./credentials/CredentialReadsConformance.ts"
import { credentialsConformance } from "./credentials/CredentialsConformance.ts"
import { emailsConformance } from "./EmailsConformance.ts"
import { exportConformance } from "./jobs/ExportConformance.ts"
import { exportFormatConformance } from "./jobs/ExportFormatConformance.ts"
import { importContentConformance } from "./jobs/ImportContentConformance.ts"
import { importConformance } from "./jobs/ImportConformance.ts"
import {
  keyedContactCallsConformance,
  keyedCredentialCallsConformance,
  keyedEmailCallsConformance,
  keysAcrossServicesConformance
} from "./KeyedCallsConformance.ts"
import { historyConformance } from "./HistoryConformance.ts"
import { listsConformance, listsInRunsConformance } from "./ListsConformance.ts"
import { runsConformance } from "./RunsConformance.ts"
import { unknownFieldsConformance } from "./UnknownFieldsConformance.ts"

const readAndWrite: ReadonlyArray<AccessLevel> = ["ViewContacts", "ModifyContacts"]
const manageKeys: ReadonlyArray<AccessLevel> = ["Security", "ModifyAccessTokens"]
const sendMail: ReadonlyArray<Need> = ["SendHttp", "senders"]
const andExport: ReadonlyArray<AccessLevel> = [...readAndWrite, "Export"]

const registered = <R>(
  needs: ReadonlyArray<Need>,
  registrations: ReadonlyArray<(it: Cases<R>) => void>
): ReadonlyArray<ConformanceCase<R>> => registrations.flatMap((register) => casesOf(register, needs))

/**
 * The cases that fill the account come last: all rules are tried on each of its contacts, and an export of all of it has
 * a column for each custom field.
 */
const contacts = (): ReadonlyArray<ConformanceCase<ContactsService>> => [
  ...registered(readAndWrite, [
    upsertConformance,
    customFieldsConformance,
    contactListConformance,
    addWithoutAnswerConformance,
    contactTextConformance
  ]),
  ...registered(andExport, [consentConformance, roundTripConformance, readAfterWriteConformance]),
  ...registered([...andExport, "idempotency-keys"], [keyedContactCallsConformance]),
  ...registered(readAndWrite, [contactsAbsentConformance]),
  ...registered(andExport, [badContactsConformance]),
  ...registered(readAndWrite, [importConformance, importContentConformance]),
  ...registered(andExport, [exportConformance, exportFormatConformance]),
  ...registered([...readAndWrite, "orders"], [contactOrderConformance]),
  ...registered(readAndWrite, [
    contactsConformance,
    contactChangeConformance,
    addReachConformance,
    contactReadsConformance,
    contactBoundsConformance
  ])
]

const credentials = (): ReadonlyArray<ConformanceCase<CredentialsService>> => [
  ...registered(manageKeys, [credentialReadsConformance]),
  ...registered(
    [...manageKeys, "subaccounts"],
    [credentialsConformance, credentialKindsConformance, credentialsAbsentConformance, badCredentialsConformance]
  ),
  ...registered([...manageKeys, "subaccounts", "idempotency-keys"], [keyedCredentialCallsConformance])
]

const emails = (): ReadonlyArray<ConformanceCase<EmailsService>> => [
  ...registered(sendMail, [emailsConformance, emailsAbsentConformance, badMessagesConformance]),
  ...registered([...sendMail, "idempotency-keys"], [keyedEmailCallsConformance])
]

const runs = (): ReadonlyArray<ConformanceCase<ContactsService | RunsService>> =>
  registered([...readAndWrite, "runs"], [runsConformance, historyConformance])

const lists = (): ReadonlyArray<ConformanceCase<ContactsService | ListsService>> =>
  registered([...readAndWrite, "lists"], [listsConformance])

const account = (): ReadonlyArray<
  ConformanceCase<AccountService | ContactsService | CredentialsService | EmailsService>
> => registered([...readAndWrite, ...manageKeys, ...sendMail, "ViewReports", "account"], [accountConformance])

/** The cases of one service, or of all. Give the layer of a service to whatever runs its cases. */
export const conformance = {
  /** Contacts, their imports and exports. */
  contacts,
  /** API keys and SMTP credentials. */
  credentials,
  /** Messages. */
  emails,
  /** Runs, and what is recorded of the writes that name one. */
  runs,
  /** What the account has besides. */
  account,
  /** Lists. */
  lists,
  /** All of these, and what holds between services. */
  all: (): ReadonlyArray<
    ConformanceCase<AccountService | ContactsService | CredentialsService | EmailsService | RunsService | ListsService>
  > => [
    ...runs(),
    ...lists(),
    ...credentials(),
    ...emails(),
    ...contacts(),
    ...registered<ContactsService | ListsService | RunsService>(
      [...readAndWrite, "lists", "runs"],
      [listsInRunsConformance]
    ),
    ...account(),
    ...registered([], [unknownFieldsConformance]),
    ...registered<ContactsService | EmailsService>(
      [...readAndWrite, ...sendMail, "idempotency-keys"],
      [keysAcrossServicesConformance]
    )
  ]
} as const
