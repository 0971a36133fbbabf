/** `roster contacts export` */
import { contactFilterFromInput, ContactsService, ExportLink, type ExportRequest } from "@roster/domain"
import { exportTo } from "@roster/workflows"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import { parsedEach, parseEmail, refuseFlags, toggle, withExamples } from "../shared/CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"
import { filterFlags, noteFields, twoRules } from "../shared/RuleFlags.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { refusedHere, usageError } from "../../errors/UsageError.ts"

const formats = { csv: "Csv", json: "Json", xml: "Xml" } as const

export const command = Command.make(
  "export",
  {
    ...filterFlags,
    emails: parsedEach("email", parseEmail("email"), "Export this contact", "EMAIL"),
    format: Flag.Literals("format", ["csv", "json", "xml"]).pipe(
      Flag.withDescription("Format of the file (default: csv)"),
      Flag.withDefault("csv")
    ),
    zip: toggle("zip", "Compress the file as ZIP"),
    noWait: toggle("no-wait", "Start the export and print its id and link without waiting"),
    ...deliveryFlags
  },
  Effect.fnUntraced(function* ({ emails, force, format, noWait, out, rawRule, rule, zip }) {
    const output = yield* Output
    const filter = yield* refusedHere(
      contactFilterFromInput({ rule: rule ?? rawRule, emails: emails.length === 0 ? undefined : emails })
    )
    if (Option.isSome(filter) && filter.value._tag === "ByRule") yield* noteFields(filter.value.rule)
    if (zip && !noWait && out === undefined && output.isTerminal) {
      return yield* usageError("A ZIP file cannot be shown on a terminal.", "Write it to a file with --out.")
    }
    const request: ExportRequest = {
      filter: Option.getOrUndefined(filter),
      fileFormat: formats[format],
      compressionFormat: zip ? "Zip" : "None"
    }
    if (noWait) {
      const contacts = yield* ContactsService
      return yield* Results.record(ExportLink, yield* contacts.export(request))
    }
    const deliver = yield* delivery({ out, force })
    yield* exportTo(request, (content) => deliver(content), {
      onWaitInterrupted: ({ id }) =>
        output.note(`The export is still running. Check it with: roster exports status ${id}`)
    })
  }, Effect.scoped)
).pipe(
  Command.validate((given) =>
    refuseFlags(twoRules(given), [
      given.noWait && given.out !== undefined,
      "--no-wait and --out cannot be used together: the file does not exist yet."
    ])
  ),
  withExamples({
    "roster contacts export --out contacts.csv": "",
    'roster contacts export --rule "status = Active" --format json --zip --out active.zip':
      "Export the contacts that a rule selects, as a ZIP file",
    "roster contacts export --email ann@example.com > ann.csv": "Print one contact to stdout",
    "roster contacts export --no-wait": "Check it later with: roster exports status ID"
  }),
  Command.provide(TargetLayer.layer)
)
