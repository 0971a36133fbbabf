/** `roster emails list` and `get` */
import { formatWireDate } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import * as Results from "../../terminal/Results.ts"
import { count, withExamples } from "../shared/CommonFlags.ts"

export const list = Command.make(
  "list",
  { limit: count("limit", "Maximum number of e-mails to show (default: all)", 1) },
  Effect.fnUntraced(function* ({ limit }) {
    const { Outbox } = yield* EmbeddedStore.server
    const outbox = yield* Outbox.Outbox
    // The texts and attachments are left out.
    const rows = Stream.map(outbox.list({ limit }), (email) => ({
      MessageID: email.messageId,
      Accepted: formatWireDate(email.accepted),
      From: email.message.content.from,
      To: email.message.recipients.map(({ email }) => email),
      Subject: email.message.content.subject ?? null
    }))
    yield* Results.rows(["MessageID", "Accepted", "From", "To", "Subject"], rows)
  })
).pipe(
  withExamples({ "roster emails list --limit 10": "", "roster emails list -o json | jq -r '.[].Subject'": "" }),
  Command.provide(EmbeddedStore.layerOutbox)
)

export const get = Command.make(
  "get",
  { id: Argument.String("id").pipe(Argument.withDescription("Id of the e-mail, as shown by: roster emails list")) },
  Effect.fnUntraced(function* ({ id }) {
    const { Outbox } = yield* EmbeddedStore.server
    const outbox = yield* Outbox.Outbox
    yield* Results.record(Outbox.AcceptedEmail, yield* outbox.get(id))
  })
).pipe(
  Command.withExamples([{ command: "roster emails get 3fa85f64-5717-4562-b3fc-2c963f66afa6" }]),
  Command.provide(EmbeddedStore.layerOutbox)
)
