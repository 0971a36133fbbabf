/** The file of an import: how it is read, and what its columns, words and rows mean. It stays while one looks at another view. */
import { ImportMapping } from "@roster/domain"
import { ImportMappingText, invalidInput } from "@roster/domain/internal"
import { Data, Effect, type Layer, Schema, Stream, Struct } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import type { RpcClientError } from "effect/rpc"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { importTexts } from "../texts/ImportTexts.ts"
import * as Choices from "./ImportChoices.ts"
import { type FileSight, type Reading, readingKeys } from "./thread/FileSight.ts"
import type { ImportProblem } from "./thread/ImportCalls.ts"
import * as Thread from "./thread/ImportThread.ts"

interface Threads {
  readonly layer: Layer.Layer<Thread.ImportThread, { readonly message: string }>
}

/** Where files are read. A test does it where it is itself. */
export const threads = Atom.keepAlive(Atom.make<Threads>(Thread))

/** Runs what that thread does. */
export const threadRuntime = Atom.runtime((get) => get(threads).layer)

/** The thread is gone, with what it knew. */
export class ThreadEnded extends Data.TaggedError("ThreadEnded") {
  override get message(): string {
    return importTexts.threadEnded
  }
}

/** Says that the thread is gone, where it is. */
export const threadEnded = (error: ImportProblem | RpcClientError.RpcClientError) =>
  error._tag === "RpcClientError" ? new ThreadEnded() : error

/** The file, as the person chose it. */
export const file = Atom.keepAlive(Atom.make<File | undefined>(undefined))

/** How the person says that it is read. */
export const reading = Atom.keepAlive(Atom.make<Reading>({}))

/** How the file is read once a person says more of it. What was found stays, unless it is that which changes. */
export const readAs = ({ reading: found }: Pick<FileSight, "reading">, said: Reading, more: Reading): Reading => ({
  ...found,
  ...said,
  ...more
})

/** What the person has changed of columns and words. */
export const edits = Atom.keepAlive(Atom.make<Choices.Edits>(Choices.noEdits))

/** Lists that the contacts are put on, one a line. */
export const lists = Atom.keepAlive(Atom.make(""))

/** Whether people who get no mail may be made ones who do. */
export const resubscribe = Atom.keepAlive(Atom.make(false))

/** What is said of all its rows. */
export const rowChoices = Atom.keepAlive(Atom.make<Choices.RowChoices>(Choices.usualRows))

/** All that a person says of the import, on which its plan rests. */
export const said = Atom.keepAlive(
  Atom.readable((get): ReadonlyArray<unknown> => [
    get(file),
    get(reading),
    get(edits),
    get(lists),
    get(resubscribe),
    get(rowChoices)
  ])
)

/** What is in the file, which grows while it is read. */
export const sight = Atom.keepAlive(
  threadRuntime.atom((get) => {
    const chosen = get(file)
    const how = get(reading)
    if (chosen === undefined) return Stream.never
    return Stream.unwrap(
      Effect.map(Thread.ImportThread, (client) =>
        Stream.mapError(client.Look({ file: chosen, reading: how }), threadEnded)
      )
    )
  })
)

/** What is known of the file that was chosen. */
export const seen = Atom.readable((get): FileSight | undefined => {
  const result = get(sight)
  return get(file) !== undefined && AsyncResult.isSuccess(result) ? result.value : undefined
})

/** The custom fields that contacts have, to choose from. */
export const customFields = Atom.readable(
  (get): ReadonlyArray<string> =>
    get(AppliedRule.knownFields)?.fields.flatMap(({ isCustom, name }) => (isCustom ? [name] : [])) ?? []
)

/** The columns with what becomes of each. */
export const columns = Atom.readable((get): ReadonlyArray<Choices.ColumnChoice> => {
  const found = get(seen)
  return found === undefined ? [] : Choices.columnChoices(found, get(edits), get(customFields))
})

/** The words of columns whose fields take few values. */
export const words = Atom.readable((get) => Choices.wordChoices(get(columns), get(edits)))

/** Who would receive mail. */
export const mail = Atom.readable((get) => {
  const found = get(seen)
  return found === undefined ? undefined : Choices.mailSum(found, get(words))
})

/** The mapping that says all of it. */
export const mapping = Atom.readable((get): ImportMapping => {
  const found = get(seen)
  return found === undefined
    ? {}
    : {
        ...Choices.mappingOf(found, get(columns), get(words), get(edits).constants),
        ...Choices.cellsOf(get(rowChoices))
      }
})

/** The names of these lists. */
export const listNames = Atom.readable((get): ReadonlyArray<string> => [
  ...new Set(
    get(lists)
      .split("\n")
      .map((name) => name.trim())
      .filter((name) => name !== "")
  )
])

/** Changes what becomes of a column. */
export const setColumn = (edits: Choices.Edits, key: string, field: string | null): Choices.Edits => ({
  ...edits,
  columns: { ...edits.columns, [key]: field }
})

/** Says that a custom field is new, though its name is nearly that of another one. */
export const addField = (edits: Choices.Edits, name: string): Choices.Edits => ({
  ...edits,
  newFields: [...edits.newFields, name]
})

/** Changes what the texts of a column are; empty for texts as they stand. */
export const setKind = (edits: Choices.Edits, key: string, kind: string): Choices.Edits => ({
  ...edits,
  kinds: { ...edits.kinds, [key]: kind }
})

/** Changes what a word of a field or column stands for: an empty value says nothing, and null rejects its rows. */
export const setWord = (edits: Choices.Edits, of: string, word: string, value: string | null): Choices.Edits => ({
  ...edits,
  values: { ...edits.values, [of]: { ...edits.values[of], [word]: value } }
})

const decodeMapping = Schema.decodeEffect(ImportMappingText, { onExcessProperty: "error" })

/** A file is no saved mapping. */
export class NoMapping extends Data.TaggedError("NoMapping")<{ readonly issue: string }> {
  override get message(): string {
    return importTexts.noMapping(this.issue)
  }
}

/** Takes over what a saved mapping says. */
export const loadMapping = Atom.fn((text: string, get) =>
  decodeMapping(text).pipe(
    Effect.mapError((error) => {
      const { field, issue } = invalidInput(error, importTexts.mappingFile)
      return new NoMapping({ issue: `${field}: ${issue}` })
    }),
    Effect.map((saved) => {
      get.set(reading, Struct.pick(saved, readingKeys))
      get.set(edits, Choices.editsOf(saved))
      get.set(rowChoices, Choices.rowsOf(saved, get(rowChoices)))
      return saved
    })
  )
)

/** A mapping as `--save-mapping` writes it. */
export const mappingText = (mapping: ImportMapping): string =>
  // What was decoded can be encoded.
  `${JSON.stringify(Schema.encodeSync(ImportMapping)(mapping), undefined, 2)}\n`

/** The name of a file that belongs to another: `people.plan.json` to `people.csv`. */
export const beside = (name: string, end: string): string =>
  `${name.replace(/(?:\.(?:csv|txt|tsv|json|ndjson|xlsx|xlsm|gz|zip))+$/i, "")}${end}`
