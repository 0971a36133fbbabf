/**
 * Random calls of all kinds, noted in a history. Each field of a contact that is written is a key of its own, and so are
 * the names of API keys and the ids of exports.
 */
import {
  type ApiKey,
  type Contact,
  ContactFilter,
  type ContactPayload,
  EmailAddress,
  type ExportId,
  ImportSource,
  RuleText,
  ServiceError
} from "@roster/domain"
import type { RosterClient } from "@roster/http-client"
import { DateTime, Effect, Stream } from "effect"
import type { KeyHistory, Outcome } from "./KeyHistory.ts"

/** The services that the calls use. */
type Used = Pick<RosterClient.RosterClient, "contacts" | "credentials">

/** An account as one client sees it. */
export interface Account {
  readonly name: string
  /** Sends each call once, so that many end without anybody knowing how. */
  readonly once: Used
  /** Repeats reads, and writes with an idempotency key, which must not take effect twice. */
  readonly repeating: Used
}

/** The calls of one round, whose keys no other round uses. */
export interface Round {
  readonly name: string
  readonly history: KeyHistory
  readonly random: () => number
  /** The exports that were acknowledged. */
  readonly exports: Array<{ readonly account: string; readonly id: ExportId }>
  /** Ends the writes of the imports that were acknowledged, once they are carried out. */
  readonly imports: Array<() => void>
  /** The addresses that only imports wrote, by account. */
  readonly imported: Map<string, Array<string>>
  readonly outcomes: Record<"read" | Outcome, number>
  versions: number
}

export const makeRound = (name: string, history: KeyHistory, random: () => number): Round => ({
  name,
  history,
  random,
  exports: [],
  imports: [],
  imported: new Map(),
  outcomes: { read: 0, ok: 0, unknown: 0, failed: 0 },
  versions: 0
})

/** Few, so that clients meet. */
const contactsPerAccount = 10
const names = 3

/** The custom fields that writes share contacts by: none may undo what another one wrote. */
const fields = ["left", "right"] as const

/** The addresses of a round that clients share. */
export const sharedEmails = ({ name }: Round): ReadonlyArray<EmailAddress> =>
  Array.from({ length: contactsPerAccount }, (_, index) => EmailAddress.make(`${name}k${index}@example.com`))

/** The names of a round that clients share. */
export const sharedNames = ({ name }: Round): ReadonlyArray<string> =>
  Array.from({ length: names }, (_, index) => `${name}n${index}`)

/** The contacts of a round. */
export const ruleOf = ({ name }: Round): RuleText => RuleText.make(`lastname = '${name}'`)

const keyOf = (account: string, email: string, field: string): string => `${account} ${email} ${field}`

/** Begins a read of all fields of a contact. */
export const readingContact = ({ history }: Round, account: string, email: string) => {
  const first = history.read(keyOf(account, email, "name"))
  const others = fields.map((field) => [field, history.read(keyOf(account, email, field))] as const)
  return (found: Contact | undefined) => {
    first(found?.firstName)
    for (const [field, end] of others) end(found?.customFields?.[field])
  }
}

/** Begins a read of contacts of an account (default: those that clients share). */
export const readingContacts = (round: Round, account: string, emails: Iterable<string> = sharedEmails(round)) => {
  const reads = [...emails].map((email) => [email, readingContact(round, account, email)] as const)
  return (found: ReadonlyArray<Contact>) => {
    const byEmail = new Map<string, Contact>(found.map((contact) => [contact.email, contact]))
    for (const [email, end] of reads) end(byEmail.get(email))
  }
}

/** The date on which the key ends that a version creates: it tells whose it is. */
const expiryOf = (version: number): string => new Date(Date.UTC(2100, 0, 1, 0, 0, version)).toISOString()

/** The date on which a key ends. */
export const expiryIn = (key: ApiKey | undefined): string | undefined =>
  key?.expires == null ? undefined : DateTime.formatIso(key.expires)

/** Begins a read of an API key. */
export const readingName = ({ history }: Round, account: string, name: string) => history.read(`${account} ${name}`)

/** The longest pause of a client whose call failed, in milliseconds. */
const longestPause = 40

const pause = ({ random }: Round) => Effect.sleep(random() * longestPause)

const absent = new Set(["ContactNotFound", "CredentialNotFound"])
const refused = new Set(["NameTaken", "LastManagingKey", "TooManyCredentials"])

/** Runs a write, and ends what was noted of it. Gives its answer if it succeeded. */
const writing = <A, E extends { readonly _tag: string }>(
  round: Round,
  ends: ReadonlyArray<(outcome: Outcome) => void>,
  call: Effect.Effect<A, E>,
  onAbsent?: () => void
): Effect.Effect<A | undefined> => {
  const end = (outcome: Outcome) => {
    for (const one of ends) one(outcome)
    round.outcomes[outcome]++
  }
  return Effect.matchEffect(call, {
    onSuccess: (answer) =>
      Effect.as(
        Effect.sync(() => end("ok")),
        answer
      ),
    onFailure: (error) =>
      Effect.suspend((): Effect.Effect<undefined> => {
        if (error instanceof ServiceError) {
          end(error.mayHaveHappened ? "unknown" : "failed")
          return Effect.as(pause(round), undefined)
        }
        if (!absent.has(error._tag) && !refused.has(error._tag)) return Effect.die(error)
        end("failed")
        if (absent.has(error._tag)) onAbsent?.()
        return Effect.undefined
      })
  })
}

/** Runs a read. */
const reading = <A, E extends { readonly _tag: string }>(
  round: Round,
  end: (found: A | undefined) => void,
  call: Effect.Effect<A, E>
): Effect.Effect<void> => {
  const done = (found: A | undefined) =>
    Effect.sync(() => {
      end(found)
      round.outcomes.read++
    })
  return Effect.matchEffect(call, {
    onSuccess: done,
    onFailure: (error) => {
      if (absent.has(error._tag)) return done(undefined)
      if (!(error instanceof ServiceError)) return Effect.die(error)
      return pause(round)
    }
  })
}

/** A random call. */
export const someCall = (round: Round, account: Account): Effect.Effect<unknown> => {
  const { history, name: roundName, random } = round
  const { name, once, repeating } = account
  const pick = <A extends string>(all: ReadonlyArray<A>): A => {
    const one = all[Math.floor(random() * all.length)]
    if (one === undefined) throw new RangeError("there is nothing to pick from")
    return one
  }
  const emails = sharedEmails(round)
  const value = `v${++round.versions}`
  const field = pick(fields)
  const written = { firstName: value, lastName: roundName, customFields: { [field]: value } }
  const write = (email: string, given: string | undefined, only: ReadonlyArray<string> = ["name", ...fields]) =>
    only.map((one) => history.write(keyOf(name, email, one), given))
  const writeSome = (email: string) => write(email, value, ["name", field])
  const some = (most: number) => [
    ...new Set(Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(emails)))
  ]

  const add = () => {
    const chosen = some(3)
    const ends = chosen.flatMap(writeSome)
    const reads = readingContacts(round, name, chosen)
    const payload = chosen.map((email): ContactPayload => ({ email, ...written }))
    const { contacts } = random() < 0.5 ? once : repeating
    return Effect.map(writing(round, ends, contacts.add(payload)), (answer) =>
      answer === undefined ? undefined : reads(answer)
    )
  }
  const update = () => {
    const email = pick(emails)
    const read = readingContact(round, name, email)
    return writing(round, writeSome(email), once.contacts.update(email, written), () => read(undefined))
  }
  const remove = () => {
    const email = pick(emails)
    const read = readingContact(round, name, email)
    return writing(round, write(email, undefined), once.contacts.delete(email), () => read(undefined))
  }
  const removeMany = () => {
    const [first, ...others] = some(2)
    const chosen = [first ?? pick(emails), ...others] as const
    const ends = chosen.flatMap((email) => write(email, undefined))
    return writing(round, ends, once.contacts.deleteMany(ContactFilter.ByEmails({ emails: chosen })))
  }
  const get = () => {
    const email = pick(emails)
    return reading(round, readingContact(round, name, email), repeating.contacts.get(email))
  }
  const list = () => {
    const end = readingContacts(round, name)
    const call = repeating.contacts.list({ rule: ruleOf(round), limit: 1000 })
    return reading(round, (found) => end(found ?? []), call)
  }
  /** Shared rows may be written at any time from now on; the others only by this import, before the next export. */
  const importFile = () => {
    const shared = some(2)
    const own = [0, 1].map((index) => EmailAddress.make(`${roundName}i${value}.${index}@example.com`))
    round.imported.set(name, [...(round.imported.get(name) ?? []), ...own])
    const row = (email: string) => `${email},${value},${roundName},${value}`
    const content = ["email,firstname,lastname,left", ...shared.map(row), ...own.map(row)].join("\n")
    const ends = own.flatMap((email) => write(email, value, ["name", "left"]))
    const maybe = shared.flatMap((email) => write(email, value, ["name", "left"]))
    const source = ImportSource.File({ name: "rows.csv", content: Stream.make(new TextEncoder().encode(content)) })
    const note = (outcome: Outcome) => {
      const all = outcome === "failed" ? [...ends, ...maybe] : ends
      if (outcome === "ok") round.imports.push(() => ends.forEach((end) => end("ok")))
      else for (const end of all) end(outcome)
    }
    return writing(round, [note], once.contacts.import(source))
  }
  const exportAll = () =>
    Effect.map(writing(round, [], repeating.contacts.export({ fileFormat: "Json" })), (link) => {
      if (link === undefined) return
      history.create(`the export ${link.id}`, value)("ok")
      round.exports.push({ account: name, id: link.id })
    })
  const createKey = () => {
    const given = pick(sharedNames(round))
    const expires = expiryOf(round.versions)
    const end = history.create(`${name} ${given}`, expires)
    const call = once.credentials.apiKeys.create({ name: given, for: ["contacts:read"], expires })
    return writing(round, [end], call)
  }
  const getKey = () => {
    const given = pick(sharedNames(round))
    const end = readingName(round, name, given)
    return reading(round, (found) => end(expiryIn(found)), repeating.credentials.apiKeys.get(given))
  }
  const removeKey = () => {
    const given = pick(sharedNames(round))
    const read = readingName(round, name, given)
    const end = history.write(`${name} ${given}`, undefined)
    return writing(round, [end], once.credentials.apiKeys.delete(given), () => read(undefined))
  }
  const kinds: ReadonlyArray<readonly [number, () => Effect.Effect<unknown>]> = [
    [26, add],
    [16, update],
    [6, remove],
    [4, removeMany],
    [28, get],
    [4, list],
    [2, importFile],
    [2, exportAll],
    [5, createKey],
    [4, getKey],
    [3, removeKey]
  ]
  let left = random() * kinds.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, call] of kinds) {
    left -= weight
    if (left < 0) return call()
  }
  return get()
}
