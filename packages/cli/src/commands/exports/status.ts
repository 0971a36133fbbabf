/** `roster exports status` */
import { ContactsService, ExportExpired, ExportFailed, ExportId, ExportStatus } from "@roster/domain"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { argument } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

export const command = Command.make(
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
