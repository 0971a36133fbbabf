/**
 * Writers over HTTP that record what was acknowledged: an oracle for the content of a store after its process died.
 * Each writer has its own addresses, so its acknowledged writes are ordered.
 */
import { Effect, Schema } from "effect"
import { askServe, type KillableServe, type ServePlace } from "./KillableServe.ts"
import { rowsOf } from "./StoreLook.ts"

/** The oracle's view of a contact. */
interface Known {
  readonly firstName: string
  readonly mark: string
  readonly listed: boolean
}

type Contacts = ReadonlyMap<string, Known>

/** The state of a writer. */
export interface Writer {
  readonly name: string
  /** The id of the run that its writes name. */
  readonly run: string | undefined
  /** Everything that was acknowledged. */
  known: Contacts
  /** The state if the one write with an unknown outcome was carried out. */
  perhaps: Contacts | undefined
  version: number
}

export const makeWriter = (name: string, run?: string): Writer => ({
  name,
  run,
  known: new Map(),
  perhaps: undefined,
  version: 0
})

/** Events of the writers. */
export interface Watcher {
  /** A write is sent. */
  readonly sent: () => void
  /** A write was acknowledged. */
  readonly acknowledged: () => void
}

/** A response that none of these writes may get. */
export class WrongAnswer extends Schema.TaggedError<WrongAnswer>()("WrongAnswer", {
  request: Schema.String,
  status: Schema.Int,
  text: Schema.String
}) {}

interface Write {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  readonly after: Contacts
}

const addressesPerWriter = 60

/** A random write, and the state it leads to. */
const someWrite = ({ known, name, version }: Writer, random: () => number): Write => {
  const after = new Map(known)
  const mark = `${name}.${version}`
  const some = [...known.keys()][Math.floor(random() * known.size)]
  const kind = random()
  if (some !== undefined && kind < 0.3) {
    const before = known.get(some)
    after.set(some, { mark: before?.mark ?? "", listed: before?.listed ?? false, firstName: mark })
    return {
      method: "PUT",
      path: `/contacts/${encodeURIComponent(some)}`,
      body: { FirstName: mark },
      after
    }
  }
  if (some !== undefined && kind < 0.55) {
    after.delete(some)
    return { method: "DELETE", path: `/contacts/${encodeURIComponent(some)}`, after }
  }
  const listed = random() < 0.5
  const first = Math.floor(random() * addressesPerWriter)
  const emails = Array.from(
    { length: 1 + Math.floor(random() * 20) },
    (_, index) => `${name}-${(first + index) % addressesPerWriter}@example.com`
  )
  for (const email of emails) {
    after.set(email, { firstName: mark, mark, listed: listed || known.get(email)?.listed === true })
  }
  return {
    method: "POST",
    path: `/contacts${listed ? `?listnames=${name}` : ""}`,
    body: emails.map((Email) => ({ Email, FirstName: mark, CustomFields: { mark } })),
    after
  }
}

/** Writes until the process ends. */
export const writeUntilGone = Effect.fnUntraced(
  function* (serve: KillableServe, writer: Writer, random: () => number, watcher: Watcher) {
    for (;;) {
      writer.version++
      const { after, body, method, path } = someWrite(writer, random)
      writer.perhaps = after
      watcher.sent()
      const answer = yield* askServe(serve, method, path, body, undefined, writer.run)
      if (answer.status !== 200) {
        return yield* new WrongAnswer({ request: `${method} ${path}`, status: answer.status, text: answer.text })
      }
      writer.known = after
      writer.perhaps = undefined
      watcher.acknowledged()
    }
  },
  Effect.catchTag("NoAnswer", () => Effect.void)
)

const SeenWrite = Schema.Struct({
  email: Schema.String,
  first_name: Schema.NullOr(Schema.String),
  mark: Schema.NullOr(Schema.String),
  lists: Schema.NullOr(Schema.String)
})

/** The state as a text that is easy to compare. */
const print = (contacts: Contacts): string =>
  [...contacts]
    .map(([email, { firstName, listed, mark }]) => `${email} ${firstName} ${mark} ${listed ? "listed" : "unlisted"}`)
    .sort()
    .join("\n")

/**
 * Compares the store with what a writer had acknowledged, with or without the whole of the one write with an unknown
 * outcome, which is then settled. Returns the difference, if any.
 */
export const settle = (place: ServePlace, writer: Writer): string | undefined => {
  const rows = rowsOf(
    place,
    SeenWrite,
    `SELECT email, first_name, json_extract(custom_fields, '$.mark') AS mark,
       (SELECT group_concat(name) FROM list_members JOIN lists ON lists.id = list_id WHERE contact_id = contacts.id) AS lists
     FROM contacts WHERE email LIKE ? ORDER BY id`,
    `${writer.name}-%`
  )
  const held = new Map(
    rows.map(({ email, first_name, lists, mark }) => [
      email,
      { firstName: first_name ?? "", mark: mark ?? "", listed: lists === writer.name }
    ])
  )
  const { known, perhaps = known } = writer
  const text = print(held)
  const isBefore = text === print(known)
  if (!isBefore && text !== print(perhaps)) {
    return `${writer.name}\nheld:\n${text}\nacknowledged:\n${print(known)}\nor:\n${print(perhaps)}`
  }
  writer.known = held
  writer.perhaps = undefined
  return undefined
}
