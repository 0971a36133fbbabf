/**
 * `@elasticemail/elasticemail-client`, which speaks through superagent and callbacks.
 */
import {
  ApiClient,
  type Callback,
  ContactsApi,
  EmailsApi,
  ListsApi,
  SecurityApi
} from "@elasticemail/elasticemail-client"
import type { Answer, OfficialClient } from "./OfficialClient.ts"

const answer = (call: (callback: Callback) => void): Promise<Answer> =>
  new Promise((resolve, reject) =>
    call((error, data, response) => {
      if (error === null && response !== undefined) {
        // Its models are classes with dates; in JSON they are what travelled.
        resolve({ status: response.status, data: JSON.parse(JSON.stringify(data ?? null)) })
      } else if (error?.status !== undefined && error.response !== undefined) {
        resolve({ status: error.status, data: error.response.body })
      } else {
        reject(error ?? new Error("neither an error nor an answer"))
      }
    })
  )

const given = (options: object) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

export const superagentClient = (basePath: string, apiKey: string): OfficialClient => {
  const client = new ApiClient(basePath)
  client.authentications.apikey.apiKey = apiKey
  const contacts = new ContactsApi(client)
  const security = new SecurityApi(client)
  const emails = new EmailsApi(client)
  const lists = new ListsApi(client)
  return {
    contactsByEmailDelete: (email) => answer((done) => contacts.contactsByEmailDelete(email, done)),
    contactsByEmailGet: (email) => answer((done) => contacts.contactsByEmailGet(email, done)),
    contactsByEmailPut: (email, body) => answer((done) => contacts.contactsByEmailPut(email, body, done)),
    contactsDeletePost: (body) => answer((done) => contacts.contactsDeletePost(body, done)),
    contactsExportByIdStatusGet: (id) => answer((done) => contacts.contactsExportByIdStatusGet(id, done)),
    contactsExportPost: (options) => answer((done) => contacts.contactsExportPost(given(options), done)),
    contactsGet: (limit, offset) => answer((done) => contacts.contactsGet(given({ limit, offset }), done)),
    contactsImportPost: ({ file, ...options }) =>
      // A buffer becomes a part without a file name.
      answer((done) => contacts.contactsImportPost(given({ ...options, file: file && Buffer.from(file[1]) }), done)),
    contactsPost: (body, listnames) => answer((done) => contacts.contactsPost(body, given({ listnames }), done)),
    securityApikeysByNameDelete: (name, subaccount) =>
      answer((done) => security.securityApikeysByNameDelete(name, given({ subaccount }), done)),
    securityApikeysByNameGet: (name, subaccount) =>
      answer((done) => security.securityApikeysByNameGet(name, given({ subaccount }), done)),
    securityApikeysByNamePut: (name, body) => answer((done) => security.securityApikeysByNamePut(name, body, done)),
    securityApikeysGet: (subaccount) => answer((done) => security.securityApikeysGet(given({ subaccount }), done)),
    securityApikeysPost: (body) => answer((done) => security.securityApikeysPost(body, done)),
    securitySmtpByNameDelete: (name, subaccount) =>
      answer((done) => security.securitySmtpByNameDelete(name, given({ subaccount }), done)),
    securitySmtpByNameGet: (name, subaccount) =>
      answer((done) => security.securitySmtpByNameGet(name, given({ subaccount }), done)),
    securitySmtpByNamePut: (name, body) => answer((done) => security.securitySmtpByNamePut(name, body, done)),
    securitySmtpGet: (subaccount) => answer((done) => security.securitySmtpGet(given({ subaccount }), done)),
    securitySmtpPost: (body) => answer((done) => security.securitySmtpPost(body, done)),
    emailsPost: (body) => answer((done) => emails.emailsPost(body, done)),
    listsByListnameContactsGet: (name, limit, offset) =>
      answer((done) => lists.listsByListnameContactsGet(name, given({ limit, offset }), done)),
    listsByNameContactsPost: (name, body) => answer((done) => lists.listsByNameContactsPost(name, body, done)),
    listsByNameContactsRemovePost: (name, body) =>
      answer((done) => lists.listsByNameContactsRemovePost(name, body, done)),
    listsByNameDelete: (name) => answer((done) => lists.listsByNameDelete(name, done)),
    listsByNameGet: (name) => answer((done) => lists.listsByNameGet(name, done)),
    listsByNamePut: (name, body) => answer((done) => lists.listsByNamePut(name, body, done)),
    listsGet: (limit, offset) => answer((done) => lists.listsGet(given({ limit, offset }), done)),
    listsPost: (body) => answer((done) => lists.listsPost(body, done))
  }
}
