/** Services for unit tests: a test gives the methods that it is about, and every other method dies with its name. */
import { Effect, Layer, Stream } from "effect"
import { AccountService } from "../services/AccountService.ts"
import { checkedMethods } from "../services/CheckedMethods.ts"
import { ContactsService } from "../services/ContactsService.ts"
import { CredentialsService } from "../services/CredentialsService.ts"
import { EmailsService } from "../services/EmailsService.ts"
import { ListsService } from "../services/ListsService.ts"
import { RunsService } from "../services/RunsService.ts"
import { type Kind, methods, values } from "./ServiceMethods.ts"

const streams = new Set(["stream", "download"])

/** The methods of a service with those that are not given, which die. */
const completed = <Service extends object>(
  kind: Kind,
  service: string,
  giver: string,
  given: Partial<Service> | undefined
): Service => {
  const absent = Object.keys(methods[kind]).map((name) => {
    const die = streams.has(name) ? Stream.die : Effect.die
    const absent = new Error(`${service}.${name} is not given to ${giver}`)
    return [name, values.has(name) ? Effect.die(absent) : () => die(absent)]
  })
  // What dies has the type of any result.
  return { ...Object.fromEntries(absent), ...given } as Service
}

/** The methods of a `ContactsService` that a test gives. */
export interface TestContacts extends Partial<ContactsService["Service"]> {}

/** Provides a `ContactsService` of the given methods. It tells no id of a store unless one is given. */
export const layerTestContacts = (given: TestContacts): Layer.Layer<ContactsService> =>
  Layer.sync(ContactsService, () =>
    checkedMethods(ContactsService, {
      ...completed("contacts", "ContactsService", "layerTestContacts", given),
      storeId: given.storeId ?? Effect.undefined
    })
  )

/** The methods of a `CredentialsService` that a test gives. */
export interface TestCredentials {
  /** The methods for API keys that the test needs. */
  readonly apiKeys?: Partial<CredentialsService["Service"]["apiKeys"]> | undefined
  /** The methods for SMTP credentials that the test needs. */
  readonly smtp?: Partial<CredentialsService["Service"]["smtp"]> | undefined
}

/** Provides a `CredentialsService` of the given methods. */
export const layerTestCredentials = ({ apiKeys, smtp }: TestCredentials): Layer.Layer<CredentialsService> =>
  Layer.sync(CredentialsService, () =>
    checkedMethods(CredentialsService, {
      apiKeys: completed("apiKeys", "CredentialsService.apiKeys", "layerTestCredentials", apiKeys),
      smtp: completed("smtp", "CredentialsService.smtp", "layerTestCredentials", smtp)
    })
  )

/** Provides an `EmailsService` of the given methods. */
export const layerTestEmails = (given: Partial<EmailsService["Service"]>): Layer.Layer<EmailsService> =>
  Layer.sync(EmailsService, () =>
    checkedMethods(EmailsService, completed("emails", "EmailsService", "layerTestEmails", given))
  )

/** The methods of a `RunsService` that a test gives. */
export interface TestRuns extends Partial<RunsService["Service"]> {}

/** Provides a `RunsService` of the given methods. */
export const layerTestRuns = (given: TestRuns): Layer.Layer<RunsService> =>
  Layer.sync(RunsService, () => checkedMethods(RunsService, completed("runs", "RunsService", "layerTestRuns", given)))

/** The methods of a `ListsService` that a test gives. */
export interface TestLists extends Partial<ListsService["Service"]> {}

/** Provides a `ListsService` of the given methods. */
export const layerTestLists = (given: TestLists): Layer.Layer<ListsService> =>
  Layer.sync(ListsService, () =>
    checkedMethods(ListsService, completed("lists", "ListsService", "layerTestLists", given))
  )

/** The methods of an `AccountService` that a test gives. */
export interface TestAccount extends Partial<AccountService["Service"]> {}

/** Provides an `AccountService` of the given methods. */
export const layerTestAccount = (given: TestAccount): Layer.Layer<AccountService> =>
  Layer.sync(AccountService, () =>
    checkedMethods(AccountService, completed("account", "AccountService", "layerTestAccount", given))
  )
