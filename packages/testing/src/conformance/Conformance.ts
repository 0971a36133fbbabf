/**
 * The behaviour that all layers of the services share: the embedded store, the HTTP client in front of a server, and
 * any later one. No test knows which layer it runs on.
 *
 * The layer runs on its own store, which allows senders of `example.com` and fetches no files by URL. Tests wait for
 * conditions of background work, on the real clock.
 */
import { layer } from "@effect/vitest"
import type { ContactsService, CredentialsService, EmailsService } from "@roster/domain"
import type { Layer } from "effect"
import { absentConformance } from "./AbsentConformance.ts"
import { badInputConformance } from "./BadInputConformance.ts"
import { addWithoutAnswerConformance } from "./contacts/AddWithoutAnswerConformance.ts"
import { consentConformance } from "./contacts/ConsentConformance.ts"
import { contactBoundsConformance } from "./contacts/ContactBoundsConformance.ts"
import { contactListConformance } from "./contacts/ContactListConformance.ts"
import { contactsConformance } from "./contacts/ContactsConformance.ts"
import { contactTextConformance } from "./contacts/ContactTextConformance.ts"
import { customFieldsConformance } from "./contacts/CustomFieldsConformance.ts"
import { credentialKindsConformance } from "./credentials/CredentialKindsConformance.ts"
import { credentialsConformance } from "./credentials/CredentialsConformance.ts"
import { emailsConformance } from "./EmailsConformance.ts"
import { exportConformance } from "./jobs/ExportConformance.ts"
import { exportFormatConformance } from "./jobs/ExportFormatConformance.ts"
import { keyedCallsConformance } from "./KeyedCallsConformance.ts"
import { importContentConformance } from "./jobs/ImportContentConformance.ts"
import { importConformance } from "./jobs/ImportConformance.ts"
import { roundTripConformance } from "./contacts/RoundTripConformance.ts"
import { upsertConformance } from "./contacts/UpsertConformance.ts"

/** Registers the suite for a layer. */
export const conformance = (
  name: string,
  services: Layer.Layer<ContactsService | CredentialsService | EmailsService, unknown>
): void =>
  layer(services, { excludeTestServices: true, timeout: "30 seconds" })(name, (it) => {
    contactsConformance(it)
    upsertConformance(it)
    addWithoutAnswerConformance(it)
    consentConformance(it)
    contactListConformance(it)
    contactTextConformance(it)
    contactBoundsConformance(it)
    customFieldsConformance(it)
    exportConformance(it)
    exportFormatConformance(it)
    importConformance(it)
    importContentConformance(it)
    roundTripConformance(it)
    credentialsConformance(it)
    credentialKindsConformance(it)
    emailsConformance(it)
    keyedCallsConformance(it)
    absentConformance(it)
    badInputConformance(it)
  })
