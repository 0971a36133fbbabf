/** Contacts in memory, which compare and change in one step, and of which others can change some just before. */
import {
  canonicalEmail,
  type ChangeAnswer,
  type Contact,
  ContactNotFound,
  type ContactChange,
  type ContactsService,
  judgeChange,
  layerTestContacts
} from "@roster/domain"
import { contentOf, everyStatus } from "@roster/domain/internal"
import { Effect } from "effect"
import type { RunReport } from "../../src/runs/RunReport.ts"
import { Stopped } from "../../src/runs/Stopped.ts"

interface Kept {
  readonly contact: Contact
  readonly lists: ReadonlyArray<string>
}

/** What the other side knows. */
export const makeFake = () => {
  const stored = new Map<string, Kept>()
  let beforeChange: (() => void) | undefined
  const apply = (change: ContactChange, isDry: boolean): ChangeAnswer => {
    const key = canonicalEmail(change.email)
    const now = stored.get(key)
    const { addToLists = [], removeFromLists = [] } = change.write ?? {}
    const lists = [...new Set([...(now?.lists ?? []), ...addToLists])].filter((name) => !removeFromLists.includes(name))
    const areSo = change.delete === true || now === undefined || lists.length === now.lists.length
    const { after, result } = judgeChange(now?.contact ?? null, change, areSo)
    if (result === "Outdated") {
      return {
        _tag: "Outdated",
        exact: true,
        contact: now?.contact ?? null,
        lists: now?.lists ?? []
      }
    }
    if (result === "Done" && !isDry) {
      if (after === null) stored.delete(key)
      // `contentOf` leaves out what has no value.
      else
        stored.set(key, {
          contact: { ...contentOf(after), email: now?.contact.email ?? change.email } as Contact,
          lists
        })
    }
    return { _tag: result, exact: true }
  }
  const service = {
    get: (email) => {
      const found = stored.get(canonicalEmail(email))
      return found === undefined ? Effect.fail(new ContactNotFound({ email })) : Effect.succeed(found.contact)
    },
    addWithoutAnswer: (contacts, { listNames = [], resubscribe = everyStatus } = {}) =>
      Effect.sync(() => {
        for (const { email, ...given } of contacts) {
          const now = stored.get(canonicalEmail(email))?.contact ?? null
          apply(
            {
              email: email as ContactChange["email"],
              seen: now,
              write: { ...given, addToLists: listNames, resubscribe }
            },
            false
          )
        }
        return { keptStatuses: [] }
      }),
    change: (changes, { dryRun = false } = {}) =>
      Effect.sync(() => {
        if (!dryRun) {
          beforeChange?.()
          beforeChange = undefined
        }
        return changes.map((change) => apply(change, dryRun))
      })
  } satisfies Partial<ContactsService["Service"]>
  return {
    stored,
    layer: layerTestContacts(service),
    service,
    /** Another person's change. */
    put: (email: string, fields: Omit<Contact, "email"> = {}, lists: ReadonlyArray<string> = []) =>
      stored.set(canonicalEmail(email), { contact: { email, status: "Active", ...fields }, lists }),
    /** Another person's deletion. */
    remove: (email: string) => stored.delete(canonicalEmail(email)),
    of: (email: string) => stored.get(canonicalEmail(email)),
    /** Does something just before the next write. */
    before: (act: () => void) => {
      beforeChange = act
    }
  }
}

/** The report of a run, also of one that was stopped. */
export const reportOf = <E, R>(run: Effect.Effect<RunReport, E | Stopped, R>) =>
  Effect.catchIf(
    run,
    (error): error is Stopped => error instanceof Stopped,
    ({ report }) => Effect.succeed(report)
  )
