/**
 * Copies customers of a shop into the contacts. It is compiled like most projects, with `strict` and nothing beyond it:
 * an empty column is `undefined`, and is passed on as it is.
 */
import {
  type ContactPayload,
  ContactsService,
  type ContactUpdatePayload,
  CredentialsService,
  type EmailMessage,
  EmailsService
} from "@roster/domain"
import { addAll } from "@roster/workflows"
import { type DateTime, Effect, Stream } from "effect"

export interface Customer {
  readonly email: string
  readonly first: string | undefined
  readonly last?: string
  readonly agreedAt?: DateTime.Utc
  readonly agreedFrom?: string
  readonly tags?: Readonly<Record<string, string>>
}

export const payloadOf = ({ agreedAt, agreedFrom, email, first, last, tags }: Customer): ContactPayload => ({
  email,
  status: undefined,
  firstName: first,
  lastName: last,
  customFields: tags,
  consent: { ip: agreedFrom, date: agreedAt, tracking: undefined }
})

/** Adds customers, and reports the outcome of each. */
export const bringIn = Effect.fn("bringIn")(function* (customers: ReadonlyArray<Customer>) {
  const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(customers), { toContact: payloadOf }))
  return outcomes.map((outcome) =>
    outcome._tag === "Refused" ? `${outcome.item.email}: ${outcome.error.message}` : outcome._tag
  )
})

/** Corrects the names of a customer that the form has. */
export const correct = Effect.fn("correct")(function* (email: string, form: Record<string, string | undefined>) {
  const contacts = yield* ContactsService
  const changes: ContactUpdatePayload = { firstName: form["first"], lastName: form["last"], customFields: undefined }
  return yield* contacts.update(email, changes)
})

/** Thanks a customer, whose first name may not be known. */
export const thank = Effect.fn("thank")(function* ({ email, first }: Customer, campaign?: string) {
  const emails = yield* EmailsService
  const message: EmailMessage = {
    recipients: [{ email, fields: first === undefined ? undefined : { first } }],
    content: {
      from: "shop@example.com",
      subject: "Thank you",
      body: [{ contentType: "PlainText", content: "Thank you!", charset: undefined }],
      replyTo: undefined,
      utm: { campaign }
    },
    options: undefined
  }
  return yield* emails.send(message)
})

/** Creates a key for a partner, with an optional expiry. */
export const keyFor = Effect.fn("keyFor")(function* (partner: string, expires?: DateTime.Utc) {
  const { apiKeys } = yield* CredentialsService
  return yield* apiKeys.create({
    name: partner,
    for: ["contacts:read"],
    expires,
    ipRanges: undefined,
    subaccount: undefined
  })
})
