/** `roster contacts export` */
import { Contact, InvalidInput, ListsText, type UnreadableFile } from "@roster/domain"
import { ContactColumns, contactFilterFromInput, FieldNames } from "@roster/domain/internal"
import { countExported, exportTo, shapedCsv } from "@roster/workflows"
import { Duration, Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { Csv } from "effect/encoding"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import { parsed, parsedEach, text, toggle } from "../../settings/FlagForms.ts"
import { parseEmail, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { withHelp } from "../shared/HelpExtras.ts"
import { Output } from "../../terminal/Output.ts"
import { ResumeHint } from "../../terminal/ResumeHint.ts"
import * as Results from "../../terminal/Results.ts"
import { fileFlags, fileGroup, namedAddresses, unreadFlags } from "../shared/Selection.ts"
import { checkFields, givenRule, ruleFlags, twoRules } from "../shared/RuleFlags.ts"
import { contactsOn, noteUnplacedOn } from "./ContactsOnList.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { refuse, refusedHere, type UsageError, usageError } from "../../errors/UsageError.ts"

/** The formats of files, and those of the interface that they are made of. */
const formats = { csv: "Csv", json: "Json", xml: "Xml", xlsx: "Csv" } as const

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

/** Why a file cannot be given another shape. */
type ShapeError = UnreadableFile | UsageError

/** The file of the contacts on a list. Its first reading finds the columns. */
const fileOf = Effect.fnUntraced(function* <E, R>(
  format: "Csv" | "Json",
  contacts: Stream.Stream<Contact, E, R>,
  lists: boolean
) {
  if (format === "Json") return Results.jsonLines(Contact, contacts, "json")
  const names = new Map<string, string>()
  yield* Stream.runForEach(contacts, ({ customFields = {} }) =>
    Effect.sync(() => {
      for (const name of Object.keys(customFields)) {
        if (!names.has(FieldNames.foldName(name))) names.set(FieldNames.foldName(name), name)
      }
    })
  )
  const fields = [...names.values()].toSorted()
  return Stream.make(ContactColumns.exportHeader(fields, lists)).pipe(
    Stream.concat(Stream.map(contacts, (contact) => ContactColumns.exportCells(contact, fields, lists))),
    Stream.pipeThroughChannel(Csv.encode())
  )
})

export const command = Command.make(
  "export",
  {
    ...ruleFlags,
    emails: parsedEach("email", parseEmail("email"), "Export this contact", "EMAIL"),
    format: Flag.Literals("format", ["csv", "json", "xml", "xlsx"]).pipe(
      Flag.withDescription("Format of the file; xlsx is a workbook (default: by the name of --out, or csv)"),
      Flag.withDefault(undefined)
    ),
    formulas: Flag.Literals("formulas", ["protect", "keep"]).pipe(
      Flag.withDescription(
        "How a csv file has texts that a spreadsheet would run: protect them by an apostrophe (default), or keep them"
      ),
      Flag.withDefault("protect")
    ),
    columns: parsed(
      "columns",
      (given) => {
        const names = given.split(",").map((name) => name.trim())
        return names.includes("") ? refuse("columns", "write names with commas between them") : Effect.succeed(names)
      },
      "The columns of a csv file or workbook, in this order (default: all)",
      "NAME,..."
    ),
    lists: toggle("lists", "Add the lists of each contact, in a csv file as the column Lists, which an import takes"),
    delimiter: Flag.Literals("delimiter", [",", ";", "|", "tab"]).pipe(
      Flag.withDescription("What stands between the cells of a csv file (default: ,)"),
      Flag.withDefault(undefined)
    ),
    bom: toggle("bom", "Begin a csv file with the mark by which spreadsheets know UTF-8"),
    ...fileFlags,
    on: text("on", "Export the contacts on this list", "LIST"),
    zip: toggle("zip", "Compress the file as ZIP (default: if --out ends in .zip)"),
    ...deliveryFlags
  },
  Effect.fnUntraced(function* (given) {
    const { force, format: givenFormat, on, out, zip: givenZip } = given
    const output = yield* Output
    const promised = promisedBy(out)
    const format = givenFormat ?? promised.format ?? "csv"
    const zip = givenZip || promised.isZip
    const base = formats[format]
    const isWorkbook = format === "xlsx"
    const rule = yield* givenRule(given)
    const filter = yield* refusedHere(contactFilterFromInput({ rule, emails: yield* namedAddresses(given) }))
    if (Option.isSome(filter) && filter.value._tag === "ByRule") {
      yield* checkFields(filter.value.rule, { allowUnknownField: given.allowUnknownField })
      yield* noteUnplacedOn(on, filter.value.rule)
    }
    if (zip && out === undefined && output.isTerminal) {
      return yield* usageError("A ZIP file cannot be shown on a terminal.", "Write it to a file with --out.")
    }
    const { bom, delimiter, formulas } = given
    const named = given.columns?.some(ContactColumns.isListsColumn) === true
    const lists = given.lists || named
    const columns = lists && !named ? given.columns && [...given.columns, ListsText.listsColumn] : given.columns
    if (isWorkbook && (out === undefined || zip || bom || delimiter !== undefined || formulas === "keep")) {
      return yield* usageError(
        "A workbook is written to a file by this command, and has no form of text.",
        "Name it with --out FILE.xlsx, and leave out --zip, --delimiter, --bom and --formulas."
      )
    }
    const isShaped = bom || columns !== undefined || delimiter !== undefined || formulas === "keep"
    if (isShaped && (zip || !(format === "csv" || isWorkbook))) {
      return yield* usageError(
        "--columns, --delimiter, --bom and --formulas keep are for a csv file that this command writes.",
        "Leave out --zip and other formats, or leave out these flags."
      )
    }
    if (on !== undefined && (zip || base === "Xml")) {
      return yield* usageError("--on writes a csv, json or xlsx file.", "Leave out --zip and --format xml.")
    }
    const counter = zip || base === "Xml" ? undefined : countExported(base)
    const shaped = <E, R>(content: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E | ShapeError, R> => {
      const counted = counter === undefined ? content : counter.through(content)
      const shape = {
        bom,
        columns,
        delimiter: delimiter === "tab" ? "\t" : delimiter,
        keepsFormulas: formulas === "keep"
      }
      const csv: Stream.Stream<Uint8Array, E | ShapeError, R> = isShaped
        ? Stream.catchIf(
            shapedCsv(counted, shape),
            (error): error is InvalidInput => error instanceof InvalidInput && error.field === "columns",
            ({ issue }) =>
              Stream.fail(
                usageError(`--columns: ${issue}.`, "Correct the name. If it is meant so, add --allow-unknown-field.")
              )
          )
        : counted
      return isWorkbook
        ? Stream.unwrap(Effect.promise(async () => (await import("@roster/workflows/Workbook")).csvToWorkbook(csv)))
        : csv
    }
    if (on !== undefined && base !== "Xml") {
      const contacts = yield* contactsOn(on, { offset: 0, rule, lists })
      const deliver = yield* delivery({ out, force, isWorkbook, counter })
      return yield* deliver(shaped(yield* fileOf(base, contacts, lists)))
    }
    const deliver = yield* delivery({ out, force, isWorkbook, counter })
    const hint = yield* ResumeHint
    const request = {
      filter: Option.getOrUndefined(filter),
      fileFormat: base,
      compressionFormat: zip ? "Zip" : "None",
      ...(lists ? { lists } : {})
    } as const
    yield* exportTo(request, (content) => deliver(shaped(content)), {
      // The fields of the rule were looked for above, or are allowed.
      allowUnknownField: true,
      // `--timeout` is the limit.
      limit: Duration.infinity,
      onWaitInterrupted: () =>
        Effect.sync(() => {
          hint.interrupted = "The export was not waited for. It changes nothing, and nothing was written here."
        })
    })
  }, Effect.scoped)
).pipe(
  Command.validate((given) =>
    refuseFlags(
      twoRules(given),
      unreadFlags(given),
      [
        given.on !== undefined && (given.emails.length > 0 || given.file !== undefined || given.rawRule !== undefined),
        "--on cannot be combined with --email, --file or --raw-rule."
      ],
      [contradiction(given) !== "", contradiction(given)]
    )
  ),
  withExamples({
    "roster contacts export --out contacts.csv": "",
    'roster contacts export --rule "status = Active" --out active.json.zip':
      "Export the contacts that a rule selects, as JSON in a ZIP file",
    "roster contacts export --email ann@example.com > ann.csv": "Print one contact to stdout",
    "roster contacts export --file addresses.csv --out found.csv": "Export the contacts whose addresses are in a file",
    "roster contacts export --columns Email,FirstName,city --delimiter ';' --bom --out contacts.csv":
      "Some columns, as spreadsheets of many countries read them",
    "roster contacts export --out contacts.xlsx": "As a workbook",
    "roster contacts export --on Newsletter --out newsletter.csv": "Export the contacts on a list",
    "roster contacts export --columns Email,Lists --out lists.csv": "Who is on which lists, which an import takes again"
  }),
  withHelp({
    groups: {
      "which contacts": ["rule", "raw-rule", "allow-unknown-field", "email", "on"],
      ...fileGroup,
      "the file": ["out", "force", "format", "columns", "lists", "delimiter", "bom", "formulas", "zip"]
    }
  }),
  Command.provide(TargetLayer.layerForWrites({ previews: true }))
)
