/** Changes one contact as a run of its own, so that it can be undone. (docs/decisions/runs.md) */
import {
  type Contact,
  type ContactChange,
  type ContactContent,
  ContactNotFound,
  ContactsService,
  type ContactWrite,
  type EmailAddress,
  InvalidInput,
  type KeptStatus,
  keptStatuses,
  type RunTaken,
  ServiceError,
  TaggedError,
  Unavailable,
  withheldStatuses
} from "@roster/domain"
import {
  contentAfter,
  everyStatus,
  FieldNames,
  fnRedacted,
  payloadOfChange,
  sameContent,
  wouldLower,
  withoutOwnKey,
  KnownFields
} from "@roster/domain/internal"
import { Effect, Schema, type Scope, Struct } from "effect"
import { readNow } from "../runs/ContactReader.ts"
import { attempts, made, madeBy, recordUnknown } from "../runs/RecordedChanges.ts"
import { type Run, type RunLogFailure } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"

/** A contact with this address is stored already. Nothing was changed. */
export class ContactExists extends TaggedError<ContactExists>()("ContactExists", {
  /** The address. */
  email: Schema.String
}) {
  override get message(): string {
    return `A contact ${this.email} is stored already.`
  }
}

/** The service, or this key, cannot make this change to a contact that is there without adding one that is not. Nothing was changed. */
export class NotChangeable extends TaggedError<NotChangeable>()("NotChangeable", {
  /** Whether it is the key that lacks ViewContacts, and not the service. */
  mayNotView: Schema.optionalKey(Schema.Literal(true))
}) {
  override get message(): string {
    if (this.mayNotView === true) {
      return (
        "This key may not view contacts, so with it the status, consent and lists of a contact cannot be changed without " +
        "adding one that was deleted meanwhile. Use a key that has the level ViewContacts too."
      )
    }
    return (
      "This service does not compare and change a contact in one step, so its status, consent and lists cannot be " +
      "changed without adding a contact that was deleted meanwhile. Change it on the page of the service, or add the " +
      "contact with its status."
    )
  }
}

/** The contact has a stricter status than the given one, such as Unsubscribed. Nothing was changed. */
export class WouldResubscribe extends TaggedError<WouldResubscribe>()("WouldResubscribe", {
  /** The address. */
  email: Schema.String,
  /** The status that the contact keeps, which `resubscribe` may name. */
  status: Schema.Literals(withheldStatuses)
}) {
  override get message(): string {
    const said = this.status === "Abuse" ? "names it" : "is true or names it"
    return `The contact is ${this.status}, and keeps that status unless resubscribe ${said}.`
  }
}

/** Others have given fields of the change another value since the contact was seen. Nothing was changed. */
export class ContactChanged extends TaggedError<ContactChanged>()("ContactChanged", {
  /** The address. */
  email: Schema.String,
  /** The fields, of those that the change writes. */
  fields: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Others have changed the contact ${this.email} since it was read: ${this.fields.join(", ")}.`
  }
}

/** How a change is made. */
export interface ChangeAsRunOptions {
  /** The command in the log. */
  readonly command: string
  /** Whether the contact has to be there, or must not be, or is added if it is not (default: existing). */
  readonly of?: "existing" | "new" | "any" | undefined
  /**
   * The contact as a person saw it: where others have given a field of the write another value since, and not the one that is written,
   * the change fails with `ContactChanged`. What they did to other fields stays.
   */
  readonly seen?: ContactContent | undefined
}

/** A change that was made. */
export interface ChangedAsRun {
  /** The run, for `undoRun`. */
  readonly run: string
  /** The contact as it is now, if the key may read it; `null` if it was deleted. */
  readonly contact: Contact | null | undefined
  /** The status that the contact kept in place of the given one: a key that may not view contacts cannot ask before. */
  readonly keptStatus?: KeptStatus["status"] | undefined
}

type OneChange = { readonly email: string } & ({ readonly write: ContactWrite } | { readonly delete: true })

const changeFields = KnownFields.fieldsOf<{ email: string; write: ContactWrite; delete: true }>("a change", {
  email: true,
  write: true,
  delete: true
})
const optionFields = KnownFields.fieldsOf<ChangeAsRunOptions>("this call", { command: true, of: true, seen: true })

type ChangeError =
  | ContactNotFound
  | ContactExists
  | ContactChanged
  | NotChangeable
  | WouldResubscribe
  | InvalidInput
  | ServiceError

/** The fields of a write that others have changed since a contact was seen, and not to what is written. */
const changedSince = (seen: ContactContent, now: ContactContent, write: ContactWrite): ReadonlyArray<string> => {
  const after = contentAfter(now, { ...write, resubscribe: everyStatus })
  const isChanged = (of: (content: ContactContent) => ContactContent): boolean =>
    !sameContent(of(seen), of(now)) && !sameContent(of(now), of(after))
  const customText = ({ customFields = {} }: ContactContent, name: string): string =>
    FieldNames.valueByName(customFields, name) ?? ""
  return [
    ...(["status", "firstName", "lastName", "consent"] as const).filter(
      (name) => write[name] !== undefined && isChanged((content) => Struct.pick(content, [name]))
    ),
    ...Object.keys(write.customFields ?? {}).filter((name) =>
      isChanged((content) => ({ customFields: { [name]: customText(content, name) } }))
    )
  ]
}

/**
 * Writes to one contact, or deletes it. Unless it is of any contact, it neither adds one that others deleted meanwhile nor
 * overwrites one that they added. A key that may not view contacts can update, delete and add them, which cannot be undone;
 * what it adds keeps a stricter status.
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
  change: OneChange,
  options: ChangeAsRunOptions
): Effect.fn.Return<ChangedAsRun, ChangeError | RunTaken | RunLogFailure, ContactsService | RunLog> {
  yield* KnownFields.checkFields(changeFields, change)
  yield* KnownFields.checkFields(optionFields, options)
  const { command, of = "existing", seen } = options
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const log = yield* RunLog
      let run: Run | undefined
      // After the first read, whose answer says which contacts these are.
      const opened = yield* Effect.cached(
        Effect.tap(log.open({ command }), (opened) => Effect.sync(() => (run = opened)))
      )
      const made = yield* makeChange(opened, { delete: undefined, write: undefined, ...change }, of, seen).pipe(
        // Within the scope of its file, which opens later.
        Effect.ensuring(Effect.suspend(() => (run === undefined ? Effect.void : Effect.ignore(run.end))))
      )
      return { run: (yield* opened).header.id, ...made }
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

/** Whether an add can say a write, at a service that compares nothing. */
const isSayable = ({ consent, removeFromLists = [] }: ContactWrite): boolean =>
  removeFromLists.length === 0 && consent !== null && !Object.values(consent ?? {}).includes(null)

type Made = Omit<ChangedAsRun, "run">

const makeChange = Effect.fnUntraced(function* (
  opened: Effect.Effect<Run, RunTaken | RunLogFailure | InvalidInput | ServiceError, Scope.Scope>,
  { delete: isDeleted, email, write = {} }: { readonly email: string } & Pick<ContactChange, "write" | "delete">,
  of: NonNullable<ChangeAsRunOptions["of"]>,
  looked: ContactContent | undefined
): Effect.fn.Return<Made, ChangeError | RunTaken | RunLogFailure, ContactsService | Scope.Scope> {
  const service = yield* ContactsService
  // The service checks the address.
  const address = email as EmailAddress
  const { consent, customFields: _fields, firstName: _first, lastName: _last, resubscribe, status, ...lists } = write
  const payload = payloadOfChange({ email: address, seen: null, write })
  /** What a service does that compares nothing. Unless somebody looked before, the contact keeps a stricter status. */
  const plain = (isRead: boolean): Effect.Effect<Made, ChangeError> => {
    const refusal = new NotChangeable(isRead ? {} : { mayNotView: true })
    if (isDeleted === true) return Effect.as(service.delete(email), { contact: null })
    if (of !== "any") {
      return status !== undefined || consent !== undefined || Object.keys(lists).length > 0
        ? Effect.fail(refusal)
        : Effect.map(
            service.update(email, Struct.pick(payload, ["firstName", "lastName", "customFields"])),
            (contact) => ({
              contact
            })
          )
    }
    if (!isSayable(write)) return Effect.fail(refusal)
    return service
      .add([payload], { listNames: write.addToLists, ...(isRead ? {} : { resubscribe: resubscribe ?? false }) })
      .pipe(
        withoutOwnKey,
        Effect.catchTag("TooManyContacts", Effect.die),
        Effect.map((added) => ({ contact: added[0], keptStatus: keptStatuses([payload], added)[0]?.status }))
      )
  }
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { found, isExact } = yield* asOne(readNow(service, [email], { isToChange: true })).pipe(
      Effect.catchTag("TooManyContacts", Effect.die)
    )
    if (found === undefined) {
      if (of === "new" || looked !== undefined) return yield* new NotChangeable({ mayNotView: true })
      const run = yield* opened
      yield* recordUnknown(run, "a change by a key that may not read contacts")
      return yield* run.write(asOne(plain(false)))
    }
    const [now = { contact: null, lists: undefined }] = found
    const seen = now.contact
    if (of === "new" && seen !== null) return yield* new ContactExists({ email })
    if (of === "existing" && seen === null) return yield* new ContactNotFound({ email })
    const fields = looked === undefined || seen === null ? [] : changedSince(looked, seen, write)
    if (fields.length > 0) return yield* new ContactChanged({ email, fields })
    const withheld = withheldStatuses.find((withheld) => withheld === seen?.status)
    if (withheld !== undefined && status !== undefined && wouldLower(withheld, status, resubscribe)) {
      return yield* new WouldResubscribe({ email, status: withheld })
    }
    const run = yield* opened
    const changes = [
      isDeleted === true
        ? { email: address, seen, delete: isDeleted }
        : // Of one contact any other status is written, NotConfirmed too.
          { email: address, seen, write: status === undefined ? write : { ...write, resubscribe: everyStatus } }
    ] as const
    if (!isExact && of !== "new") return yield* asOne(madeBy(run, { changes, found: [now] }, plain(true)))
    const [answer] = yield* asOne(made(service, run, { changes, found: [now] })).pipe(
      Effect.catchTag("TooManyContacts", Effect.die)
    )
    if (answer?._tag === "Outdated") continue
    return {
      contact:
        isDeleted === true
          ? null
          : yield* Effect.catchTag(service.get(email), "ContactNotFound", () => Effect.undefined)
    }
  }
  return yield* new ServiceError({
    operation: "contactsChangesPost",
    reason: new Unavailable({ detail: "others keep changing the contact" })
  })
})
