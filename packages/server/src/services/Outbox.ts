/** Reads the messages that a store has accepted: it sends none of them. */
import { type AcceptedEmail, EmailMessage, EmailNotFound, type EmailsPage, type EmailSummary } from "@roster/domain"
import { JsonParser } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { defaultPage, readRows } from "../store/Rows.ts"
import { StoredDate } from "../store/StoreClock.ts"

/** A page ends after messages of so many bytes: some of them have attachments of many megabytes. */
const pageBytes = 16 * 1024 * 1024

const readEmails = readRows(
  Schema.Struct({
    messageId: Schema.String,
    transactionId: Schema.String,
    accepted: StoredDate,
    message: JsonParser.fromJsonString(EmailMessage)
  }).pipe(Schema.encodeKeys({ messageId: "message_id", transactionId: "transaction_id", accepted: "created" }))
)

/** A message of an account by its id. */
export const findEmail = Effect.fnUntraced(function* (account: string, id: string) {
  const sql = yield* SqlClient.SqlClient
  const [email] = yield* readEmails(sql`
    SELECT message_id, transaction_id, created, message FROM outbox
    WHERE account = ${account} AND message_id = ${id.toLowerCase()}`)
  const found: AcceptedEmail | undefined = email
  return found ?? (yield* new EmailNotFound({ id }))
})

const summaryOf = ({ accepted, message: { content, recipients }, messageId }: AcceptedEmail): EmailSummary => ({
  messageId,
  accepted,
  from: content.from,
  to: recipients.map(({ email }) => email),
  subject: content.subject ?? null
})

/** A page of the messages of an account, the newest first. */
export const readOutbox = Effect.fnUntraced(function* (account: string, { before, limit = defaultPage }: EmailsPage) {
  const sql = yield* SqlClient.SqlClient
  const [last] =
    before === undefined
      ? []
      : yield* sql<{ readonly created: number }>`
          SELECT created FROM outbox WHERE account = ${account} AND message_id = ${before.toLowerCase()}`
  if (before !== undefined && last === undefined) return yield* new EmailNotFound({ id: before })
  const older =
    before === undefined || last === undefined
      ? sql`1 = 1`
      : sql`(created < ${last.created} OR created = ${last.created} AND message_id > ${before.toLowerCase()})`
  const rows = yield* sql<{ readonly message_id: string; readonly bytes: number }>`
    SELECT message_id, bytes FROM outbox WHERE account = ${account} AND ${older}
    ORDER BY created DESC, message_id LIMIT ${limit}`
  const summaries: Array<EmailSummary> = []
  let bytes = 0
  // One by one, so that only one is held.
  for (const row of rows) {
    if (bytes > pageBytes) break
    bytes += Number(row.bytes)
    // One that goes meanwhile is left out.
    const found = yield* Effect.option(findEmail(account, row.message_id))
    if (found._tag === "Some") summaries.push(summaryOf(found.value))
  }
  return summaries
})
