/** `roster exports status` and `download` */
import { ContactsService, ExportExpired, ExportFailed, ExportId, type ExportStatus } from "@roster/domain"
import { downloadTo } from "@roster/workflows"
import { Effect, Schedule } from "effect"
import { Argument, Command } from "effect/cli"
import { refuse } from "../../errors/UsageError.ts"
import { argument, withExamples } from "../shared/CommonFlags.ts"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import { findLink, knownLink } from "../shared/ExportLinks.ts"
import { settings } from "../../settings/Settings.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"

/** The time between two looks at an export of a local store. */
const localPolling = Schedule.spaced("100 millis")

/** The status of an export. On a local store the command works on the export itself, and waits until it has ended. */
const settledStatus = Effect.fnUntraced(function* (id: ExportId) {
  const contacts = yield* ContactsService
  const first = yield* contacts.exportStatus(id)
  if (first !== "Loading" || (yield* settings)._tag === "Remote") return first
  yield* (yield* Output).note("Writing the export. It can be interrupted; the same command resumes it.")
  return yield* Effect.repeat(contacts.exportStatus(id), {
    schedule: localPolling,
    until: (status): status is Exclude<ExportStatus, "Loading"> => status !== "Loading"
  })
})

/** A link without its query, which may be a signature. The file is downloaded by its id. */
const shownLink = (link: string | undefined): string | null => link?.replace(/\?.*$/s, "?…") ?? null

export const status = Command.make(
  "status",
  { id: argument("id", ExportId, "Id of the export") },
  Effect.fnUntraced(function* ({ id }) {
    const status = yield* settledStatus(id)
    const link = yield* findLink(id)
    yield* Results.row({ PublicExportID: id, Status: status, Link: shownLink(link) })
    if (status === "Error") return yield* new ExportFailed({ id })
    if (status === "Expired") return yield* new ExportExpired({ id })
  })
).pipe(
  Command.withExamples([{ command: "roster exports status 3fa85f64-5717-4562-b3fc-2c963f66afa6" }]),
  Command.provide(TargetLayer.layer)
)

const isLink = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

type ExportedFile = { readonly link: string } | { readonly id: ExportId }

export const download = Command.make(
  "download",
  {
    file: Argument.String("link").pipe(
      Argument.withDescription("Link of the export, or the id of one that was begun here or is in the local store"),
      Argument.mapEffect((text) =>
        isLink(text)
          ? Effect.succeed<ExportedFile>({ link: text })
          : Effect.matchEffect(ExportId.fromText(text), {
              onSuccess: (id) => Effect.succeed<ExportedFile>({ id }),
              onFailure: () => refuse("link", "it is neither a link nor the id of an export")
            })
      )
    ),
    ...deliveryFlags
  },
  Effect.fnUntraced(function* ({ file, ...to }) {
    const deliver = yield* delivery(to)
    if ("id" in file && (yield* settings)._tag === "Local") yield* settledStatus(file.id)
    const link = "id" in file ? yield* knownLink(file.id) : file.link
    yield* downloadTo(link, (content) => deliver(content))
  }, Effect.scoped)
).pipe(
  withExamples({
    "roster exports download 3fa85f64-5717-4562-b3fc-2c963f66afa6 --out contacts.csv":
      "An export that was begun here, or of the local store",
    'roster exports download "$LINK" --out contacts.csv': "",
    'roster exports download "$LINK" | wc -l': "Print to stdout"
  }),
  Command.provide(TargetLayer.layer)
)
