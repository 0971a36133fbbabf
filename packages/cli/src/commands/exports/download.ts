/** `roster exports download` */
import { downloadTo } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { invalid, refusedInput } from "../../errors/UsageError.ts"
import { withExamples } from "../shared/CommonFlags.ts"

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
    const deliver = yield* delivery(to)
    yield* downloadTo(link, (content) => deliver(content))
  }, Effect.scoped)
).pipe(
  withExamples({
    'roster exports download "$LINK" --out contacts.csv': "",
    'roster exports download "$LINK" | wc -l': "Print to stdout"
  }),
  Command.provide(TargetLayer.layer)
)
