/**
 * What both official clients can be asked, in one form: the tests are written once, each client does its own way.
 */
/** What a client made of an answer, refusals included. */
export interface Answer {
  readonly status: number
  /** The body as the client read it, in terms of JSON. */
  readonly data: unknown
}

type Call<Arguments extends ReadonlyArray<unknown>> = (...args: Arguments) => Promise<Answer>

export interface ExportOptions {
  readonly fileFormat?: "Csv" | "Json" | "Xml"
  readonly rule?: string
  readonly emails?: Array<string>
  readonly compressionFormat?: "None" | "Zip"
  readonly fileName?: string
}

export interface ImportOptions {
  readonly listName?: string
  readonly encodingName?: string
  readonly fileUrl?: string
  /** The name and content of a file. */
  readonly file?: readonly [name: string, content: string]
}

/** One method for each operation identifier; bodies are JSON of the wire. */
export interface OfficialClient {
  readonly contactsByEmailDelete: Call<[email: string]>
  readonly contactsByEmailGet: Call<[email: string]>
  readonly contactsByEmailPut: Call<[email: string, body: object]>
  readonly contactsDeletePost: Call<[body: object]>
  readonly contactsExportByIdStatusGet: Call<[id: string]>
  readonly contactsExportPost: Call<[options: ExportOptions]>
  readonly contactsGet: Call<[limit?: number, offset?: number]>
  readonly contactsImportPost: Call<[options: ImportOptions]>
  readonly contactsPost: Call<[body: ReadonlyArray<object>, listnames?: Array<string>]>
  readonly securityApikeysByNameDelete: Call<[name: string, subaccount?: string]>
  readonly securityApikeysByNameGet: Call<[name: string, subaccount?: string]>
  readonly securityApikeysByNamePut: Call<[name: string, body: object]>
  readonly securityApikeysGet: Call<[subaccount?: string]>
  readonly securityApikeysPost: Call<[body: object]>
  readonly securitySmtpByNameDelete: Call<[name: string, subaccount?: string]>
  readonly securitySmtpByNameGet: Call<[name: string, subaccount?: string]>
  readonly securitySmtpByNamePut: Call<[name: string, body: object]>
  readonly securitySmtpGet: Call<[subaccount?: string]>
  readonly securitySmtpPost: Call<[body: object]>
  readonly emailsPost: Call<[body: object]>
  /** The TypeScript client has no such call: `undefined`. */
  readonly listsByListnameContactsGet: Call<[name: string, limit?: number, offset?: number]> | undefined
  readonly listsByNameContactsPost: Call<[name: string, body: object]>
  readonly listsByNameContactsRemovePost: Call<[name: string, body: object]>
  readonly listsByNameDelete: Call<[name: string]>
  readonly listsByNameGet: Call<[name: string]>
  readonly listsByNamePut: Call<[name: string, body: object]>
  readonly listsGet: Call<[limit?: number, offset?: number]>
  readonly listsPost: Call<[body: object]>
}

/** The identifiers of the operations that a client has been asked for. */
export type Driven = Set<string>

/** Notes which operations are driven. */
export const noting = (client: OfficialClient, driven: Driven): OfficialClient =>
  new Proxy(client, {
    get: (target, operation: keyof OfficialClient) => {
      driven.add(operation)
      return target[operation]
    }
  })
