/**
 * `roster exports download`
 */
import { ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import * as Target from "../../target/Target.ts"
import { invalid, refusedInput } from "../../errors/UsageError.ts"

const isLink = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

export const command = Command.make(
  "download",
  {
    link: Argument.String("link").pipe(
      Argument.withDescription("Link of the export"),
      Argument.mapEffect((text) =>
        isLink(text)
          ? Effect.succeed(text)
          : refusedInput(Effect.fail(invalid("link", "it is not a link of an export")))
      )
    ),
    ...deliveryFlags
  },
  Effect.fnUntraced(function* ({ link, ...to }) {
    const contacts = yield* ContactsService
    const deliver = yield* delivery(to)
    yield* deliver(contacts.download(link))
  }, Effect.scoped)
).pipe(
  Command.withExamples([
    { command: 'roster exports download "$LINK" --out contacts.csv' },
    { command: 'roster exports download "$LINK" | wc -l', description: "Print to stdout" }
  ]),
  Command.provide(Target.layer)
)
