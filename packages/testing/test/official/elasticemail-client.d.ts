/** The part of the second official client that the tests call: the package itself has no types. */
declare module "@elasticemail/elasticemail-client" {
  type Callback = (
    error:
      | (Error & { readonly status?: number; readonly response?: { readonly body: unknown; readonly text: string } })
      | null,
    data: unknown,
    response: { readonly status: number } | undefined
  ) => void
  type Options = Readonly<Record<string, unknown>>

  export class ApiClient {
    constructor(basePath: string)
    readonly authentications: { readonly apikey: { apiKey: string } }
  }

  export class ContactsApi {
    constructor(client: ApiClient)
    contactsByEmailDelete(email: string, callback: Callback): void
    contactsByEmailGet(email: string, callback: Callback): void
    contactsByEmailPut(email: string, payload: unknown, callback: Callback): void
    contactsDeletePost(payload: unknown, callback: Callback): void
    contactsExportByIdStatusGet(id: string, callback: Callback): void
    contactsExportPost(options: Options, callback: Callback): void
    contactsGet(options: Options, callback: Callback): void
    contactsImportPost(options: Options, callback: Callback): void
    contactsPost(payload: unknown, options: Options, callback: Callback): void
  }

  export class SecurityApi {
    constructor(client: ApiClient)
    securityApikeysByNameDelete(name: string, options: Options, callback: Callback): void
    securityApikeysByNameGet(name: string, options: Options, callback: Callback): void
    securityApikeysByNamePut(name: string, payload: unknown, callback: Callback): void
    securityApikeysGet(options: Options, callback: Callback): void
    securityApikeysPost(payload: unknown, callback: Callback): void
    securitySmtpByNameDelete(name: string, options: Options, callback: Callback): void
    securitySmtpByNameGet(name: string, options: Options, callback: Callback): void
    securitySmtpByNamePut(name: string, payload: unknown, callback: Callback): void
    securitySmtpGet(options: Options, callback: Callback): void
    securitySmtpPost(payload: unknown, callback: Callback): void
  }

  export class EmailsApi {
    constructor(client: ApiClient)
    emailsPost(payload: unknown, callback: Callback): void
  }

  export class ListsApi {
    constructor(client: ApiClient)
    listsByListnameContactsGet(name: string, options: Options, callback: Callback): void
    listsByNameContactsPost(name: string, payload: unknown, callback: Callback): void
    listsByNameContactsRemovePost(name: string, payload: unknown, callback: Callback): void
    listsByNameDelete(name: string, callback: Callback): void
    listsByNameGet(name: string, callback: Callback): void
    listsByNamePut(name: string, payload: unknown, callback: Callback): void
    listsGet(options: Options, callback: Callback): void
    listsPost(payload: unknown, callback: Callback): void
  }
}
