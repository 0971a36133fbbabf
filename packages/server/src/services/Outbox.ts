/** The messages that a store has accepted, for its owner: it sends none of them. */
import { EmailMessage, fnRedacted, type ServiceError, WireDate, TaggedError } from "@roster/domain"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { readRows } from "../store/Rows.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { StoredDate } from "../store/StoreClock.ts"

/** A message that a store has accepted. */
export const AcceptedEmail = Schema.Struct({
  /** The identifier of the message. */
  messageId: Schema.String,
  /** The identifier of the call that submitted it. */
  transactionId: Schema.String,
  /** When the store accepted it, in UTC. */
  accepted: WireDate,
  /** The message as it was submitted. */
  message: EmailMessage
}).pipe(
  Schema.encodeKeys({
    messageId: "MessageID",
    transactionId: "TransactionID",
    accepted: "Accepted",
    message: "Message"
  })
)
export interface AcceptedEmail extends Schema.Schema.Type<typeof AcceptedEmail> {}

/** There is no message with this id in the outbox. */
export class EmailNotFound extends TaggedError<EmailNotFound>()("EmailNotFound", {
  /** The id that was asked for. */ id: Schema.String
}) {
  override get message(): string {
    return `There is no e-mail ${this.id} in the outbox of this store.`
  }
}

/** The outbox of a store. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** The messages of the account, newest first. */
    readonly list: (options?: { readonly limit?: number | undefined }) => Stream.Stream<AcceptedEmail, ServiceError>
    /** One message by its id. */
    readonly get: (id: string) => Effect.Effect<AcceptedEmail, EmailNotFound | ServiceError>
  }
>()("@roster/server/Outbox") {}

const readEmails = readRows(
  Schema.Struct({
    messageId: Schema.String,
    transactionId: Schema.String,
    accepted: StoredDate,
    message: Schema.fromJsonString(EmailMessage)
  }).pipe(Schema.encodeKeys({ messageId: "message_id", transactionId: "transaction_id", accepted: "created" }))
)
const readIds = readRows(Schema.Struct({ message_id: Schema.String }))

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const find = Effect.fnUntraced(function* (id: string) {
    const { account } = yield* Caller
    return yield* readEmails(sql`SELECT * FROM outbox WHERE account = ${account} AND message_id = ${id.toLowerCase()}`)
  })

  const ids = fnRedacted("Outbox.list")(function* (limit: number | undefined) {
    const { account } = yield* Caller
    const rows = yield* readIds(sql`
      SELECT message_id FROM outbox WHERE account = ${account} ORDER BY created DESC, message_id
      ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}`)
    return rows.map(({ message_id }) => message_id)
  }, orStoreFailure("outboxList"))

  // The messages one by one: some of them have attachments of many megabytes.
  const list: Outbox["Service"]["list"] = ({ limit } = {}) =>
    Stream.fromArrayEffect(ids(limit)).pipe(
      Stream.mapEffect((id) => orStoreFailure("outboxList")(find(id))),
      Stream.flattenIterable
    )

  const get = fnRedacted("Outbox.get")(function* (id: string) {
    const [email] = yield* find(id)
    return email ?? (yield* new EmailNotFound({ id }))
  }, orStoreFailure("outboxGet"))

  return Outbox.of({ list, get })
})

/** Provides the outbox of a store. */
export const layer: Layer.Layer<Outbox, never, SqlClient.SqlClient> = Layer.effect(Outbox, make)
