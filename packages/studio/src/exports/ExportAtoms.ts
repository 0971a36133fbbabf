/** The exports of this session: each is asked for and waited for by the programs of the library, and goes on while one looks at other views. */
import { type CompressionFormat, ContactsService, type ExportFileFormat } from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { awaitExport, type RosterCommand } from "@roster/workflows"
import { Effect, Option } from "effect"
import { Atom } from "effect/reactivity"
import { type Meant, meantOf } from "../contacts/ContactSelection.ts"
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
export const exportCommand = ({ compression, format, lists, meant }: WantedExport): RosterCommand => ({
  program: "contacts export",
  values: {
    ...(meant._tag === "ByRule" ? selection(meant.rule) : namedBy(meant)),
    lists: lists === true ? lists : undefined,
    out: `contacts.${endings[format]}${compression === "Zip" ? ".zip" : ""}`
  }
})
