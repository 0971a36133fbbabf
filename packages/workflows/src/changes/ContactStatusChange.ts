/**
 * Changes the status of one contact, such as of somebody who unsubscribes. It never adds a contact, and needs a service that
 * compares and changes in one step: over any other one, it fails and changes nothing.
 */
import {
  ContactNotFound,
  ContactsService,
  type ContactStatus,
  type EmailAddress,
  fnRedacted,
  InvalidInput,
  ServiceError,
  statusKept,
  Unavailable,
  type WithheldStatus,
  TaggedError
} from "@roster/domain"
import { Effect, Schema } from "effect"
import { attempts } from "../runs/RecordedContacts.ts"

/** The service cannot change the status of a contact that is there without adding one that is not. Nothing was changed. */
export class StatusNotChangeable extends TaggedError<StatusNotChangeable>()("StatusNotChangeable", {}) {
  override get message(): string {
    return (
      "This service does not compare and change a contact in one step, so its status cannot be changed without adding " +
      "a contact that was deleted meanwhile. Change it on the page of the service, or add the contact with its status."
    )
  }
}

/** The contact gets no mail, and its status would send it some again. Nothing was changed. */
export class WouldResubscribe extends TaggedError<WouldResubscribe>()("WouldResubscribe", {
  /** The status that the contact keeps. */
  status: Schema.String
}) {
  override get message(): string {
    return `The contact is ${this.status}, and keeps that status unless resubscribe is true.`
  }
}

/** How a status is changed. */
export interface ChangeStatusOptions {
  /** Whether a contact that receives no mail may be made one that does (default: false, and it fails). */
  readonly resubscribe?: boolean | undefined
}

/**
 * Changes the status of a contact that is there.
 *
 * ```ts
 * import { changeStatus } from "@roster/workflows"
 *
 * export const example = changeStatus("ada@example.com", "Active", { resubscribe: true })
 * ```
 */
export const changeStatus = fnRedacted("changeStatus")(function* (
  email: string,
  status: ContactStatus,
  options: ChangeStatusOptions = {}
): Effect.fn.Return<
  void,
  ContactNotFound | StatusNotChangeable | WouldResubscribe | InvalidInput | ServiceError,
  ContactsService
> {
  const { resubscribe = false } = options
  const service = yield* ContactsService
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const seen = yield* service.get(email)
    const kept: WithheldStatus | undefined = resubscribe ? undefined : statusKept(seen.status, status)
    if (kept !== undefined) return yield* new WouldResubscribe({ status: kept })
    // The service checks the address.
    const change = { email: email as EmailAddress, seen, write: { status, resubscribe } }
    const ask = (dryRun: boolean) =>
      Effect.catchTags(service.change([change], { dryRun }), {
        TooManyContacts: Effect.die,
        // The caller gave a status, and no list of changes.
        InvalidInput: ({ field, issue }) =>
          Effect.fail(new InvalidInput({ field: field.replace(/^\[0\]\.(?:write\.)?/, ""), issue }))
      })
    const [asked] = yield* ask(true)
    if (asked?.exact !== true) return yield* new StatusNotChangeable()
    const [answer] = yield* ask(false)
    if (answer === undefined || answer._tag !== "Outdated") return
    if (answer.contact === null) return yield* new ContactNotFound({ email })
  }
  return yield* new ServiceError({
    operation: "contactsChangesPost",
    reason: new Unavailable({ detail: "others keep changing the contact" })
  })
})
