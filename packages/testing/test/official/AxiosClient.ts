/**
 * `@elasticemail/elasticemail-client-ts-axios`, on a current axios: the one that it brings cannot send the import.
 */
import {
  Configuration,
  ContactsApi,
  EmailsApi,
  ListsApi,
  SecurityApi
} from "@elasticemail/elasticemail-client-ts-axios"
import { create, isAxiosError } from "axios"
import type { Answer, OfficialClient } from "./OfficialClient.ts"

/** Its types ask for the axios that it brings, and for bodies that are always right. The tests bring another one, and send wrong ones too. */
const asItIs = (value: unknown): never => value as never

const answer = (call: Promise<{ readonly status: number; readonly data: unknown }>): Promise<Answer> =>
  call.then(
    ({ data, status }) => ({ status, data }),
    (error: unknown) => {
      if (!isAxiosError(error) || error.response === undefined) throw error
      return { status: error.response.status, data: error.response.data }
    }
  )

export const axiosClient = (basePath: string, apiKey: string): OfficialClient => {
  const configuration = new Configuration({ apiKey, basePath })
  const instance = asItIs(create())
  const contacts = new ContactsApi(configuration, undefined, instance)
  const security = new SecurityApi(configuration, undefined, instance)
  const emails = new EmailsApi(configuration, undefined, instance)
  const lists = new ListsApi(configuration, undefined, instance)
  return {
    contactsByEmailDelete: (email) => answer(contacts.contactsByEmailDelete(email)),
    contactsByEmailGet: (email) => answer(contacts.contactsByEmailGet(email)),
    contactsByEmailPut: (email, body) => answer(contacts.contactsByEmailPut(email, asItIs(body))),
    contactsDeletePost: (body) => answer(contacts.contactsDeletePost(asItIs(body))),
    contactsExportByIdStatusGet: (id) => answer(contacts.contactsExportByIdStatusGet(id)),
    contactsExportPost: ({ compressionFormat, emails, fileFormat, fileName, rule }) =>
      answer(contacts.contactsExportPost(fileFormat, rule, emails, compressionFormat, fileName)),
    contactsGet: (limit, offset) => answer(contacts.contactsGet(limit, offset)),
    contactsImportPost: ({ encodingName, file, fileUrl, listName }) =>
      answer(contacts.contactsImportPost(listName, encodingName, fileUrl, file && new File([file[1]], file[0]))),
    contactsPost: (body, listnames) => answer(contacts.contactsPost(asItIs(body), listnames)),
    securityApikeysByNameDelete: (name, subaccount) => answer(security.securityApikeysByNameDelete(name, subaccount)),
    securityApikeysByNameGet: (name, subaccount) => answer(security.securityApikeysByNameGet(name, subaccount)),
    securityApikeysByNamePut: (name, body) => answer(security.securityApikeysByNamePut(name, asItIs(body))),
    securityApikeysGet: (subaccount) => answer(security.securityApikeysGet(subaccount)),
    securityApikeysPost: (body) => answer(security.securityApikeysPost(asItIs(body))),
    securitySmtpByNameDelete: (name, subaccount) => answer(security.securitySmtpByNameDelete(name, subaccount)),
    securitySmtpByNameGet: (name, subaccount) => answer(security.securitySmtpByNameGet(name, subaccount)),
    securitySmtpByNamePut: (name, body) => answer(security.securitySmtpByNamePut(name, asItIs(body))),
    securitySmtpGet: (subaccount) => answer(security.securitySmtpGet(subaccount)),
    securitySmtpPost: (body) => answer(security.securitySmtpPost(asItIs(body))),
    emailsPost: (body) => answer(emails.emailsPost(asItIs(body))),
    // This client lacks it.
    listsByListnameContactsGet: undefined,
    listsByNameContactsPost: (name, body) => answer(lists.listsByNameContactsPost(name, asItIs(body))),
    listsByNameContactsRemovePost: (name, body) => answer(lists.listsByNameContactsRemovePost(name, asItIs(body))),
    listsByNameDelete: (name) => answer(lists.listsByNameDelete(name)),
    listsByNameGet: (name) => answer(lists.listsByNameGet(name)),
    listsByNamePut: (name, body) => answer(lists.listsByNamePut(name, asItIs(body))),
    listsGet: (limit, offset) => answer(lists.listsGet(limit, offset)),
    listsPost: (body) => answer(lists.listsPost(asItIs(body)))
  }
}
