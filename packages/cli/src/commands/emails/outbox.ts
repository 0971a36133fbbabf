/** `roster emails list` and `get` */
import { AcceptedEmail, acceptedEmails, AccountService, EmailSummary } from "@roster/domain"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as TargetLayer from "../../target/TargetLayer.ts"
import * as Results from "../../terminal/Results.ts"
import { count, withExamples } from "../shared/CommonFlags.ts"

export const list = Command.make(
  "list",
  { limit: count("limit", "Maximum number of e-mails to show (default: all)", 1) },
  Effect.fnUntraced(function* ({ limit }) {
    // The texts and attachments are left out.
    yield* Results.records(EmailSummary, ["MessageID", "Accepted", "From", "To", "Subject"], acceptedEmails({ limit }))
  })
).pipe(
  withExamples({ "roster emails list --limit 10": "", "roster emails list -o json | jq -r '.[].Subject'": "" }),
  Command.provide(TargetLayer.layerForReads)
)

export const get = Command.make(
  "get",
  { id: Argument.String("id").pipe(Argument.withDescription("Id of the e-mail, as shown by: roster emails list")) },
  Effect.fnUntraced(function* ({ id }) {
    yield* Results.record(AcceptedEmail, yield* (yield* AccountService).email(id))
  })
).pipe(
  Command.withExamples([{ command: "roster emails get 3fa85f64-5717-4562-b3fc-2c963f66afa6" }]),
  Command.provide(TargetLayer.layerForReads)
)
