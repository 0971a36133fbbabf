/** `roster contacts export` */
import { contactFilterFromInput, ContactsService, type ExportId, ExportLink, type ExportRequest } from "@roster/domain"
import { exportTo } from "@roster/workflows"
import { Effect, Option, type Stdio } from "effect"
import { Command, Flag } from "effect/cli"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import { forgetLink, keepLink } from "../shared/ExportLinks.ts"
import { parsedEach, toggle } from "../../settings/FlagForms.ts"
import { parseEmail, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { commandHere } from "../../terminal/ResumeHint.ts"
import * as Results from "../../terminal/Results.ts"
import { filterFlags, noteAbsentFields, noteFields, twoRules } from "../shared/RuleFlags.ts"
import { settings } from "../../settings/Settings.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { refusedHere, usageError } from "../../errors/UsageError.ts"

const formats = { csv: "Csv", json: "Json", xml: "Xml" } as const

type Format = keyof typeof formats

const isFormat = (name: string | undefined): name is Format => name !== undefined && Object.hasOwn(formats, name)

/** The format and compression that the name of a file promises. */
const promisedBy = (out = "") => {
  const isZip = /\.zip$/i.test(out)
  const extension = /\.([^./\\]+)$/.exec(isZip ? out.slice(0, -4) : out)?.[1]?.toLowerCase()
  return { isZip, format: isFormat(extension) ? extension : undefined }
}

/** Why the name of a file contradicts the flags: a reader believes the name. */
const contradiction = (given: {
  readonly out: string | undefined
  readonly format: Format | undefined
  readonly zip: boolean
}): string => {
  const { format, isZip } = promisedBy(given.out)
  if (given.format !== undefined && format !== undefined && given.format !== format) {
    return `--out names a .${format} file, but --format is ${given.format}.`
  }
  return given.zip && format !== undefined && !isZip
    ? `--out names a .${format} file, but --zip makes a ZIP file: name it ${given.out}.zip.`
    : ""
}

export const command = Command.make(
  "export",
  {
    ...filterFlags,
    emails: parsedEach("email", parseEmail("email"), "Export this contact", "EMAIL"),
    format: Flag.Literals("format", ["csv", "json", "xml"]).pipe(
      Flag.withDescription("Format of the file (default: by the name of --out, or csv)"),
      Flag.withDefault(undefined)
    ),
    zip: toggle("zip", "Compress the file as ZIP (default: if --out ends in .zip)"),
    noWait: toggle("no-wait", "Start the export and print its id and link without waiting"),
    ...deliveryFlags
  },
  Effect.fnUntraced(function* ({ emails, force, format: givenFormat, noWait, out, rawRule, rule, zip: givenZip }) {
    const output = yield* Output
    const promised = promisedBy(out)
    const format = givenFormat ?? promised.format ?? "csv"
    const zip = givenZip || promised.isZip
    const filter = yield* refusedHere(
      contactFilterFromInput({ rule: rule ?? rawRule, emails: emails.length === 0 ? undefined : emails })
    )
    if (Option.isSome(filter) && filter.value._tag === "ByRule") {
      yield* noteFields(filter.value.rule)
      yield* noteAbsentFields(filter.value.rule)
    }
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
      const link = yield* contacts.export(request)
      yield* keepLink(link)
      yield* Results.record(ExportLink, link)
      if ((yield* settings)._tag === "Local") {
        const status = yield* commandHere(["exports", "status", link.id])
        yield* output.note(`No process is writing the export yet. To write it, run: ${status} (or roster serve)`)
      }
      return
    }
    const context = yield* Effect.context<Effect.Services<ReturnType<typeof keepLink>> | Stdio.Stdio>()
    const deliver = yield* delivery({ out, force })
    let id: ExportId | undefined
    yield* exportTo(request, (content) => deliver(content), {
      onStart: (link) => {
        id = link.id
        return Effect.provideContext(keepLink(link), context)
      },
      onWaitInterrupted: ({ id }) =>
        commandHere(["exports", "status", id]).pipe(
          Effect.flatMap((status) => output.note(`The export is still running. Check it with: ${status}`)),
          Effect.provideContext(context)
        )
    })
    if (id !== undefined) yield* forgetLink(id)
  }, Effect.scoped)
).pipe(
  Command.validate((given) =>
    refuseFlags(
      twoRules(given),
      [
        given.noWait && given.out !== undefined,
        "--no-wait and --out cannot be used together: the file does not exist yet."
      ],
      [contradiction(given) !== "", contradiction(given)]
    )
  ),
  withExamples({
    "roster contacts export --out contacts.csv": "",
    'roster contacts export --rule "status = Active" --out active.json.zip':
      "Export the contacts that a rule selects, as JSON in a ZIP file",
    "roster contacts export --email ann@example.com > ann.csv": "Print one contact to stdout",
    "roster contacts export --no-wait": "Check it later with: roster exports status ID"
  }),
  Command.provide(TargetLayer.layer)
)
