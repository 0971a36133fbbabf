/** Changes one contact as a run of its own, so that it can be undone. (docs/decisions/runs.md) */
import {
  type Contact,
  type ContactChange,
  ContactNotFound,
  ContactsService,
  type ContactWrite,
  type EmailAddress,
  everyStatus,
  fnRedacted,
  InvalidInput,
  type RunTaken,
  ServiceError,
  TaggedError,
  Unavailable,
  wouldLower
} from "@roster/domain"
import { Effect, Schema, type Scope } from "effect"
import { readNow } from "../runs/ContactReader.ts"
import { attempts, made, madeBy, recordUnknown } from "../runs/RecordedChanges.ts"
import { type Run, RunLog, type RunLogFailure } from "../runs/RunLog.ts"

/** A contact with this address is stored already. Nothing was changed. */
export class ContactExists extends TaggedError<ContactExists>()("ContactExists", {
  /** The address. */
  email: Schema.String
}) {
  override get message(): string {
    return `A contact ${this.email} is stored already.`
  }
}

/** The service cannot make this change to a contact that is there without adding one that is not. Nothing was changed. */
export class NotChangeable extends TaggedError<NotChangeable>()("NotChangeable", {}) {
  override get message(): string {
    return (
      "This service does not compare and change a contact in one step, so its status, consent and lists cannot be " +
      "changed without adding a contact that was deleted meanwhile. Change it on the page of the service, or add the " +
      "contact with its status."
    )
  }
}

/** The contact has a stricter status than the given one, such as Unsubscribed. Nothing was changed. */
export class WouldResubscribe extends TaggedError<WouldResubscribe>()("WouldResubscribe", {
  /** The status that the contact keeps. */
  status: Schema.String
}) {
  override get message(): string {
    const said = this.status === "Abuse" ? "names it" : "is true or names it"
    return `The contact is ${this.status}, and keeps that status unless resubscribe ${said}.`
  }
}

/** How a change is made. */
export interface ChangeAsRunOptions {
  /** The command in the log. */
  readonly command: string
  /** Whether the contact has to be there, or must not be (default: existing). */
  readonly of?: "existing" | "new" | undefined
}

/** A change that was made. */
export interface ChangedAsRun {
  /** The run, for `undoRun`. */
  readonly run: string
  /** The contact as it is now, if the key may read it; `null` if it was deleted. */
  readonly contact: Contact | null | undefined
}

type ChangeError = ContactNotFound | ContactExists | NotChangeable | WouldResubscribe | InvalidInput | ServiceError

/**
 * Writes to one contact, or deletes it. It neither adds a contact that others deleted meanwhile nor overwrites one that they
 * added. A key that may not view contacts can update and delete them, which cannot be undone.
 *
 * ```ts
 * import { changeAsRun } from "@roster/workflows"
 *
 * export const example = changeAsRun(
 *   { email: "ada@example.com", write: { status: "Unsubscribed" } },
 *   { command: "unsubscribe" }
 * )
 * ```
 */
export const changeAsRun = fnRedacted("changeAsRun")(function* (
  change: { readonly email: string } & ({ readonly write: ContactWrite } | { readonly delete: true }),
  options: ChangeAsRunOptions
): Effect.fn.Return<ChangedAsRun, ChangeError | RunTaken | RunLogFailure, ContactsService | RunLog> {
  const { command, of = "existing" } = options
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const log = yield* RunLog
      // After the first read, whose answer says which contacts these are.
      const opened = yield* Effect.cached(
        Effect.tap(log.open({ command }), ({ end }) => Effect.addFinalizer(() => Effect.ignore(end)))
      )
      const contact = yield* makeChange(opened, { delete: undefined, write: undefined, ...change }, of === "new")
      return { run: (yield* opened).header.id, contact }
    })
  )
})

/** A change of one contact, whose field in errors is that of the contact. */
const asOne = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, (error) =>
    error instanceof InvalidInput
      ? new InvalidInput({ field: error.field.replace(/^\[0\]\.(?:write\.)?/i, ""), issue: error.issue })
      : error
  )

const makeChange = Effect.fnUntraced(function* (
  opened: Effect.Effect<Run, RunTaken | RunLogFailure | ServiceError, Scope.Scope>,
  { delete: isDeleted, email, write = {} }: { readonly email: string } & Pick<ContactChange, "write" | "delete">,
  isNew: boolean
): Effect.fn.Return<Contact | null | undefined, ChangeError | RunTaken | RunLogFailure, ContactsService | Scope.Scope> {
  const service = yield* ContactsService
  const { consent, customFields, firstName, lastName, resubscribe = false, status, ...lists } = write
  /** What a service does that compares nothing, to a contact that is there. */
  const plain: Effect.Effect<Contact | null, ContactNotFound | NotChangeable | InvalidInput | ServiceError> =
    isDeleted === true
      ? Effect.as(service.delete(email), null)
      : status !== undefined || consent !== undefined || Object.keys(lists).length > 0
        ? new NotChangeable()
        : service.update(email, {
            ...(firstName === undefined ? {} : { firstName: firstName ?? "" }),
            ...(lastName === undefined ? {} : { lastName: lastName ?? "" }),
            ...(customFields === undefined
              ? {}
              : {
                  customFields: Object.fromEntries(
                    Object.entries(customFields).map(([name, text]) => [name, text ?? ""])
                  )
                })
          })
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { found, isExact } = yield* asOne(readNow(service, [email], { isToChange: true })).pipe(
      Effect.catchTag("TooManyContacts", Effect.die)
    )
    if (found === undefined) {
      if (isNew) return yield* new NotChangeable()
      yield* recordUnknown(yield* opened, "a change by a key that may not read contacts")
      return yield* plain
    }
    const [now = { contact: null, lists: undefined }] = found
    const seen = now.contact
    if (isNew && seen !== null) return yield* new ContactExists({ email })
    if (!isNew && seen === null) return yield* new ContactNotFound({ email })
    if (status !== undefined && wouldLower(seen?.status, status, resubscribe)) {
      return yield* new WouldResubscribe({ status: seen?.status ?? "" })
    }
    const run = yield* opened
    // The service checks the address.
    const address = email as EmailAddress
    const changes = [
      isDeleted === true
        ? { email: address, seen, delete: isDeleted }
        : // Of one contact any other status is written, NotConfirmed too.
          { email: address, seen, write: status === undefined ? write : { ...write, resubscribe: everyStatus } }
    ] as const
    if (!isExact && !isNew) return yield* madeBy(run, { changes, found: [now] }, plain)
    const [answer] = yield* asOne(made(service, run, { changes, found: [now] })).pipe(
      Effect.catchTag("TooManyContacts", Effect.die)
    )
    if (answer?._tag === "Outdated") continue
    return isDeleted === true
      ? null
      : yield* Effect.catchTag(service.get(email), "ContactNotFound", () => Effect.undefined)
  }
  return yield* new ServiceError({
    operation: "contactsChangesPost",
    reason: new Unavailable({ detail: "others keep changing the contact" })
  })
})
