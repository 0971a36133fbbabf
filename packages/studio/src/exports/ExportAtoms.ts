/** The exports of this session: each is asked for and waited for by the programs of the library, and goes on while one looks at other views. */
import { type CompressionFormat, ContactsService, type ExportFileFormat } from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { awaitExport, type RosterCommand, shapedCsv } from "@roster/workflows"
import { Effect, Option } from "effect"
import { Atom } from "effect/reactivity"
import { type Meant, meantOf } from "../contacts/ContactSelection.ts"
import { blobOf } from "../kit/Blobs.ts"
import { download } from "../kit/Download.ts"
import { selection } from "../rules/AppliedRule.ts"
import { messageOf } from "../kit/Problem.tsx"
import { runtime } from "../session/Session.ts"

/** What is exported, and how. */
export interface WantedExport {
  /** Which contacts, by their addresses or by a rule; an empty rule selects all. */
  readonly meant: Meant
  readonly format: ExportFileFormat
  readonly compression: CompressionFormat
  /** Whether the file has the lists of each contact. */
  readonly lists?: boolean
  /** What the page makes of a CSV of the service; absent for its file as it is. */
  readonly shape?: ExportShape | undefined
}

/** What the page makes of a CSV. */
export interface ExportShape {
  /** A workbook, or a text with these characters between cells: with semicolons, it has the mark by which spreadsheets know UTF-8. */
  readonly form: "Workbook" | "Semicolons" | "Commas"
  /** The names of its columns, in their order (default: all). */
  readonly columns?: ReadonlyArray<string> | undefined
}

/** An export of this session. */
export interface MadeExport extends WantedExport {
  readonly id: string
  /** Opens the file without a key. */
  readonly link: string
  /** When it was asked for, in milliseconds since 1970. */
  readonly requestedAt: number
  readonly state: "Waiting" | "Ready" | "Failed"
  /** Why it failed, or why it is not known whether it will be ready. */
  readonly problem?: string | undefined
}

/** The exports of this session, the newest first. */
export const exports = Atom.keepAlive(Atom.make<ReadonlyArray<MadeExport>>([]))

/** Whether a link may stand on the page: a service could give one that is a script. */
export const isWebLink = (link: string): boolean => /^https?:\/\//i.test(link) && URL.canParse(link)

const putInto = (all: ReadonlyArray<MadeExport>, one: MadeExport): ReadonlyArray<MadeExport> =>
  all.some(({ id }) => id === one.id) ? all.map((other) => (other.id === one.id ? one : other)) : [one, ...all]

/** Waits until an export is ready, and says how it ended. */
const awaitMade = Effect.fnUntraced(function* (one: MadeExport, put: (one: MadeExport) => void) {
  put({ ...one, state: "Waiting", problem: undefined })
  yield* Effect.match(awaitExport(one.id), {
    onSuccess: () => put({ ...one, state: "Ready", problem: undefined }),
    onFailure: (error) => put({ ...one, state: "Failed", problem: messageOf(error) })
  })
})

const filterOf = (meant: Meant) => (meant._tag === "ByRule" ? selection(meant.rule) : { emails: [...meant.emails] })

/** Asks for an export, and waits for it. */
export const request = Atom.keepAlive(
  runtime.fn(
    (wanted: WantedExport, get) =>
      Effect.gen(function* () {
        const filter = Option.getOrUndefined(yield* contactFilterFromInput(filterOf(wanted.meant)))
        const { id, link } = yield* ContactsService.use((contacts) =>
          contacts.export({
            filter,
            fileFormat: wanted.format,
            compressionFormat: wanted.compression,
            lists: wanted.lists
          })
        )
        const one: MadeExport = { ...wanted, id, link, requestedAt: Date.now(), state: "Waiting" }
        yield* awaitMade(one, (now) => get.set(exports, putInto(get.registry.get(exports), now)))
        return id
      }),
    { concurrent: true }
  )
)

const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

/** The file of an export as it was asked for. */
export const fileOf = Effect.fnUntraced(function* ({ link, shape }: Pick<MadeExport, "link" | "shape">) {
  const contacts = yield* ContactsService
  const content = contacts.download(link)
  if (shape === undefined) return yield* blobOf(content, "text/csv")
  const isWorkbook = shape.form === "Workbook"
  const isMarked = shape.form === "Semicolons"
  const csv = shapedCsv(content, {
    columns: shape.columns,
    bom: isMarked,
    delimiter: isMarked ? ";" : ",",
    // A field that nobody has is an empty column.
    allowsAbsent: true
  })
  if (!isWorkbook) return yield* blobOf(csv, "text/csv")
  const { csvToWorkbook } = yield* Effect.promise(() => import("@roster/workflows/Workbook"))
  return yield* blobOf(csvToWorkbook(csv), workbookType)
})

/** Saves the file of an export that the page gives its form. */
export const save = Atom.family((id: string) =>
  runtime.fn((one: MadeExport) =>
    Effect.map(fileOf(one), (file) =>
      download(
        one.shape?.form === "Workbook" ? `contacts-${id.slice(0, 8)}.xlsx` : `contacts-${id.slice(0, 8)}.csv`,
        file
      )
    )
  )
)

/** Waits again for an export whose end is not known. */
export const waitAgain = Atom.keepAlive(
  runtime.fn(
    (one: MadeExport, get) => awaitMade(one, (now) => get.set(exports, putInto(get.registry.get(exports), now))),
    {
      concurrent: true
    }
  )
)

const endings = { Csv: "csv", Json: "json", Xml: "xml" } as const

/** An export takes addresses by a flag alone. */
const namedBy = (meant: Meant) => {
  const { given, values } = meantOf(meant)
  return { ...values, ...(given.length === 0 ? {} : { email: given }) }
}

/** The command that makes the same file. */
export const exportCommand = ({ compression, format, lists, meant, shape }: WantedExport): RosterCommand => ({
  program: "contacts export",
  values: {
    ...(meant._tag === "ByRule" ? selection(meant.rule) : namedBy(meant)),
    lists: lists === true ? lists : undefined,
    columns: shape?.columns?.join(","),
    ...(shape?.form === "Semicolons" ? { delimiter: ";", bom: true } : {}),
    out:
      shape?.form === "Workbook" ? "contacts.xlsx" : `contacts.${endings[format]}${compression === "Zip" ? ".zip" : ""}`
  }
})
