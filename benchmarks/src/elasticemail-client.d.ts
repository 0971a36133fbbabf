/** The part of the official client for JavaScript that is measured: the package itself has no types. */
declare module "@elasticemail/elasticemail-client" {
  import type { Agent } from "node:http"

  type Callback<A> = (error: Error | null, data: A) => void

  export class ApiClient {
    constructor(basePath: string)
    readonly authentications: { readonly apikey: { apiKey: string } }
    requestAgent: Agent | null
  }

  export class ContactsApi {
    constructor(client: ApiClient)
    contactsByEmailGet(email: string, callback: Callback<{ readonly Email: string }>): void
    contactsPost(payload: ReadonlyArray<object>, options: object, callback: Callback<ReadonlyArray<object>>): void
  }
}
