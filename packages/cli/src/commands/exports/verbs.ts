/** `roster exports status` and `download` */
import { ContactsService, ExportExpired, ExportFailed, ExportId, ExportStatus } from "@roster/domain"
import { downloadTo } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { argument, refuse, withExamples } from "../shared/CommonFlags.ts"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import * as Results from "../../terminal/Results.ts"

export const status = Command.make(
  "status",
  { id: argument("id", ExportId, "Id of the export") },
  Effect.fnUntraced(function* ({ id }) {
    const contacts = yield* ContactsService
    const status = yield* contacts.exportStatus(id)
    yield* Results.record(ExportStatus, status)
    if (status === "Error") return yield* new ExportFailed({ id })
    if (status === "Expired") return yield* new ExportExpired({ id })
  })
).pipe(
  Command.withExamples([{ command: "roster exports status 3fa85f64-5717-4562-b3fc-2c963f66afa6" }]),
  Command.provide(TargetLayer.layer)
)

const isLink = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

export const download = Command.make(
  "download",
  {
    link: Argument.String("link").pipe(
      Argument.withDescription("Link of the export"),
      Argument.mapEffect((text) =>
        isLink(text) ? Effect.succeed(text) : refuse("link", "it is not a link of an export")
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
