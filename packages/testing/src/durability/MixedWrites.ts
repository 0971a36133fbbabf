/**
 * Writers over HTTP that remember what was acknowledged: an oracle of what a store has to hold after its process died.
 * Each writer has addresses of its own, so that its acknowledged writes have an order.
 */
import { Effect, Schema } from "effect"
import { askServe, type KillableServe, type ServePlace } from "./KillableServe.ts"
import { rowsOf } from "./StoreLook.ts"

/** A contact as the oracle knows it. */
interface Known {
  readonly firstName: string
  readonly mark: string
  readonly listed: boolean
}

type Contacts = ReadonlyMap<string, Known>

/** What a writer knows. */
export interface Writer {
  readonly name: string
  /** All that was acknowledged. */
  known: Contacts
  /** What the one write of which nobody knows the outcome would make of it. */
  perhaps: Contacts | undefined
  version: number
}

export const makeWriter = (name: string): Writer => ({ name, known: new Map(), perhaps: undefined, version: 0 })

/** What happens while the writers write. */
export interface Watcher {
  /** A write leaves. */
  readonly sent: () => void
  /** A write was acknowledged. */
  readonly acknowledged: () => void
}

/** An answer that no write of these may have. */
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

/** Some write, and what it makes of what is there. */
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

/** Writes until the process is gone. */
export const writeUntilGone = Effect.fnUntraced(
  function* (serve: KillableServe, writer: Writer, random: () => number, watcher: Watcher) {
    for (;;) {
      writer.version++
      const { after, body, method, path } = someWrite(writer, random)
      writer.perhaps = after
      watcher.sent()
      const answer = yield* askServe(serve, method, path, body)
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

/** As a text that can be compared, and read where it differs. */
const print = (contacts: Contacts): string =>
  [...contacts]
    .map(([email, { firstName, listed, mark }]) => `${email} ${firstName} ${mark} ${listed ? "listed" : "unlisted"}`)
    .sort()
    .join("\n")

/**
 * What the store holds of a writer has to be what was acknowledged, with or without the whole of the one write of which
 * nobody knows. From then on that is known; the answer says what differs, if anything does.
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
