/** Services for unit tests: a test gives the methods that it is about, and every other method dies with its name. */
import { Effect, Layer, Stream } from "effect"
import { ContactsService } from "../services/ContactsService.ts"
import { type CredentialOperations, CredentialsService } from "../services/CredentialsService.ts"
import { EmailsService } from "../services/EmailsService.ts"

const absent = (method: string, giver: string): Error => new Error(`${method} is not given to ${giver}`)

/** Provides a `ContactsService` of the given methods. */
export const layerTestContacts = (methods: Partial<ContactsService["Service"]>): Layer.Layer<ContactsService> => {
  const missing = (method: string) => absent(`ContactsService.${method}`, "layerTestContacts")
  const none = (method: string) => () => Effect.die(missing(method))
  return Layer.succeed(ContactsService, {
    get: none("get"),
    list: none("list"),
    stream: () => Stream.die(missing("stream")),
    add: none("add"),
    addWithoutAnswer: none("addWithoutAnswer"),
    update: none("update"),
    delete: none("delete"),
    deleteMany: none("deleteMany"),
    import: none("import"),
    export: none("export"),
    exportStatus: none("exportStatus"),
    download: () => Stream.die(missing("download")),
    ...methods
  })
}

const noOperations = (kind: "apiKeys" | "smtp"): CredentialOperations<never, never, unknown> => {
  const none = (method: string) => () =>
    Effect.die(absent(`CredentialsService.${kind}.${method}`, "layerTestCredentials"))
  return {
    list: none("list"),
    get: none("get"),
    create: none("create"),
    update: none("update"),
    delete: none("delete")
  }
}

/** The methods of a `CredentialsService` that a test gives. */
export interface TestCredentials {
  readonly apiKeys?: Partial<CredentialsService["Service"]["apiKeys"]> | undefined
  readonly smtp?: Partial<CredentialsService["Service"]["smtp"]> | undefined
}

/** Provides a `CredentialsService` of the given methods. */
export const layerTestCredentials = ({ apiKeys, smtp }: TestCredentials): Layer.Layer<CredentialsService> =>
  Layer.succeed(CredentialsService, {
    apiKeys: { ...noOperations("apiKeys"), ...apiKeys },
    smtp: { ...noOperations("smtp"), ...smtp }
  })

/** Provides an `EmailsService` of the given methods. */
export const layerTestEmails = (methods: Partial<EmailsService["Service"]>): Layer.Layer<EmailsService> =>
  Layer.succeed(EmailsService, {
    send: () => Effect.die(absent("EmailsService.send", "layerTestEmails")),
    ...methods
  })
