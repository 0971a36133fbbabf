/**
 * S73 Asks a service whatever its seed says, and compares each answer with the served document, with our client's schemas
 * and with a model of what the service has to hold.
 */
import { operations, versionSegment } from "@roster/api"
import { ContactPayload } from "@roster/domain"
import { JsonParser } from "@roster/domain/internal"
import { Arbitrary, Effect, Predicate, type Redacted, Schedule, Schema } from "effect"
import { readFileSync } from "node:fs"
import { Agent } from "node:http"
import { isDeepStrictEqual } from "node:util"
import { killableServe, type ServePlace, servePlace } from "../durability/KillableServe.ts"
import { countOf, integrityOf } from "../durability/StoreLook.ts"
import { awkwardContacts } from "../../src/properties/AwkwardContacts.ts"
import { makeDice } from "./Dice.ts"
import { makeGenerator, type Sent } from "./GeneratedRequests.ts"
import {
  type Account,
  addCredential,
  countsOf,
  type Credential,
  credentialOfJson,
  type ListCounts,
  makeAccount,
  personOfJson,
  viewOfCredential,
  viewOfCredentialJson,
  viewOfJson,
  viewOfPerson
} from "./Model.ts"
import { type Asker, type Call, type Drawn, keeper, levels, mayView, type World } from "./Askers.ts"
import { type Answer, makeAsk, noAnswer } from "./Asking.ts"
import { explain } from "./CallsAtOnce.ts"
import { wordsOf } from "./KnownWords.ts"
import { makeCalls } from "./ModelledCalls.ts"
import { readContract, type ServedOperation } from "./ServedContract.ts"

/** Something that no run may see. */
export class FuzzFinding extends Schema.TaggedError<FuzzFinding>()("FuzzFinding", {
  seed: Schema.Int,
  /** The number of the call. */
  at: Schema.Int,
  issue: Schema.String,
  /** The last calls, the oldest first. */
  before: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `seed ${this.seed}, call ${this.at}: ${this.issue}\n${this.before.join("\n")}`
  }
}

const secretForm = /roster(?:smtp)?_[0-9a-z]{45}/g

const secretsIn = (text: string) => text.match(secretForm) ?? []

/** The operations whose answer holds a secret, once. */
const handingOut = new Set(["securityApikeysPost", "securitySmtpPost"])

/** What a request may get that no operation is asked by. */
const unknownStatuses = new Set([400, 401, 403, 404, 405, 421])

const printed = ({ method, path }: Sent, { status }: Answer) => `${method} ${path.slice(0, 300)} -> ${status}`

const parsed = (text: string): unknown => (text === "" ? undefined : JsonParser.parse(text))

const empty = { headers: {}, body: Buffer.alloc(0) }

/** Contacts as the schema of payloads encodes them. */
const drawPayloads = Effect.fnUntraced(function* (seed: number) {
  const drawn = yield* Arbitrary.sampleEffect(awkwardContacts({ minLength: 4, maxLength: 4 }), { count: 100, seed })
  const encoded = yield* Schema.encodeEffect(Schema.Array(Schema.Array(ContactPayload)))(drawn)
  return encoded
    .flat()
    .filter(({ CustomFields }) => Object.keys(CustomFields ?? {}).every((name) => name.length <= 200))
    .map((payload): Readonly<Record<string, unknown>> => ({ ...payload }))
}, Effect.orDie)

/** Where two values begin to differ. */
const difference = (seen: unknown, expected: unknown): string => {
  const [is, was] = [seen, expected].map((value) => JSON.stringify(value) ?? "nothing")
  if (is === undefined || was === undefined) return ""
  const at = [...is].findIndex((_, index) => is[index] !== was[index])
  const from = Math.max(0, (at < 0 ? is.length : at) - 300)
  return `is:       ${is.slice(from, from + 500)}\nexpected: ${was.slice(from, from + 500)}`
}

/** What the ids in the answers of an operation are of. */
const kindOf = (operation = ""): keyof Account["ids"] =>
  operation.startsWith("runs") ? "runs" : /emails/i.test(operation) ? "emails" : "jobs"

/** The last calls that a finding tells. */
const remembered = 25

/** Calls between two comparisons of all that the service holds. */
const comparedEvery = 50

/** The store of the service, as it is seen beside it. */
export interface FuzzedStore {
  /** The PostgreSQL that has it (default: a file of the service). */
  readonly database?: Redacted.Redacted<string>
  /** The number of jobs that wait or run. */
  readonly openJobs: Effect.Effect<number>
  /** All that it holds, once the service has ended. */
  readonly content: Effect.Effect<string>
  /** What its engine finds wrong with it, or `ok`. */
  readonly integrity: Effect.Effect<string>
}

const onFile = (place: ServePlace): FuzzedStore => ({
  openJobs: Effect.sync(() => countOf(place, "jobs WHERE ended IS NULL")),
  content: Effect.sync(() => readFileSync(place.filename, "latin1")),
  integrity: Effect.sync(() => integrityOf(place))
})

/** Runs so many calls (default: on a file), and gives how many answers had each status. */
export const runFuzz = Effect.fnUntraced(function* ({
  calls,
  seed,
  store: given
}: {
  readonly calls: number
  readonly seed: number
  readonly store?: FuzzedStore
}) {
  const place: ServePlace = yield* servePlace
  const store = given ?? onFile(place)
  const serve = yield* killableServe(place, {
    database: store.database,
    args: ["--allow-sender", "*@example.com", "--trusted-proxy", "127.0.0.1/32"]
  })
  // A connection for each call, since the service may close one that a slow run leaves idle as the next request is on its way. An
  // agent with a bound of sockets would hand on its connections also without `keepAlive`.
  const ask = makeAsk(serve, new Agent({ keepAlive: false }))
  const dice = makeDice(seed)
  const main = makeAccount("", "zq0main")
  const accounts = [main, ...["zq1first", "zq2second"].map((mark) => makeAccount(`sub.${mark}@example.com`, mark))]
  const world: World = { accounts, dead: [], payloads: yield* drawPayloads(seed) }
  const modelled = makeCalls(world, dice)
  const history: Array<string> = []
  const tokens = new Set([serve.apiKey])
  const byStatus = new Map<number, number>()
  const successes = new Set<string>()
  let at = 0

  const found = (issue: string) => Effect.fail(new FuzzFinding({ seed, at, issue, before: history }))
  const expectEqual = (seen: unknown, expected: unknown, what: string) =>
    isDeepStrictEqual(seen, expected) ? Effect.void : found(`${what}\n${difference(seen, expected)}`)

  const administrator: Pick<Asker, "peer" | "token"> = { token: serve.apiKey, peer: "198.51.100.7" }
  const keeperOf = (account: Account) => ({ ...administrator, token: account.apiKeys.get(keeper)?.token })

  const contract = readContract(
    (yield* ask({ method: "GET", path: "/openapi.json", ...empty }, { ...administrator, token: undefined })).text,
    versionSegment
  )

  /** Asks, and looks at the answer for what no answer may be, whatever was asked. */
  const asked = Effect.fnUntraced(function* (
    operation: ServedOperation | undefined,
    sent: Sent,
    asker: Pick<Asker, "peer" | "token">,
    account: Account | undefined
  ) {
    const answer = yield* ask(sent, asker)
    const { headers, status, text } = answer
    history.push(printed(sent, answer))
    if (history.length > remembered) history.shift()
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
    if (answer === noAnswer) return answer
    const what = `${operation?.id ?? "no operation"}: ${printed(sent, answer)}\n${sent.body.toString().slice(0, 2000)}\n${text.slice(0, 2000)}`
    if (status >= 500 && !(status === 503 && headers.includes('"retry-after"'))) return yield* found(what)
    // Some values make the path another one.
    const isElsewhere = status === 404 && text.includes("There is no such operation.")
    if (!isElsewhere && !(operation?.statuses ?? unknownStatuses).has(status))
      return yield* found(`undocumented: ${what}`)
    if (sent.method === "HEAD") {
      if (text !== "") return yield* found(`HEAD with a body: ${what}`)
    } else if (!isElsewhere) {
      const issue = operation?.issueOf(status, text)
      if (issue !== undefined) return yield* found(`${issue}: ${what}`)
    }
    const secrets = [...secretsIn(headers), ...secretsIn(text)]
    const isHandedOut = status === 201 && handingOut.has(operation?.id ?? "")
    if (secrets.length !== (isHandedOut ? 1 : 0)) return yield* found(`${secrets.length} secrets: ${what}`)
    for (const secret of secrets) {
      if (tokens.has(secret)) return yield* found(`a secret came twice: ${what}`)
      tokens.add(secret)
    }
    const leak = leaked(operation, account, sent, text)
    if (leak !== undefined) return yield* found(`it tells of ${leak.mark}: ${what}`)
    if (status < 300 && operation !== undefined) successes.add(operation.id)
    return answer
  })

  /** An account of which an answer tells another one. */
  const leaked = (
    operation: ServedOperation | undefined,
    account: Account | undefined,
    { body, path }: Sent,
    text: string
  ): Account | undefined => {
    const others = accounts.filter((other) => other !== account)
    // An entry names whatever its account asked for, and the main account reads those of all.
    if (operation?.id === "accountAuditGet" && account !== undefined && text.startsWith("[")) {
      const of = new Set([parsed(text)].flat().map((entry) => Object(entry).account))
      return account === main ? undefined : others.find(({ subaccount }) => of.has(subaccount))
    }
    const all = text.toLowerCase()
    const request = `${path}${body.toString()}`.toLowerCase()
    return others.find(({ mark }) => all.includes(mark) && !request.includes(mark))
  }

  const operationOf = (id: string) => contract.operations.get(id)

  /** Reads a list, with the key of the account that no call changes. */
  const read = Effect.fnUntraced(function* (id: string, path: string, account: Account) {
    const asker = account === main ? administrator : keeperOf(account)
    const { status, text } = yield* asked(operationOf(id), { method: "GET", path, ...empty }, asker, account)
    if (status !== 200) return yield* found(`a key that nobody changed gets ${status}`)
    return [parsed(text)].flat()
  })
  const readContacts = (account: Account) => read("contactsGet", "/contacts?limit=1000", account)
  const readKeys = (account: Account) => read("securityApikeysGet", "/security/apikeys", account)
  const readSmtp = (account: Account) => read("securitySmtpGet", "/security/smtp", account)

  const readLists = Effect.fnUntraced(function* (account: Account) {
    const lists = new Map<string, ReadonlySet<string>>()
    for (const list of yield* read("listsGet", "/lists?limit=1000", account)) {
      const name = String(Object(list).ListName)
      const path = `/lists/${encodeURIComponent(name)}/contacts?limit=1000`
      const members = yield* read("listsByListnameContactsGet", path, account)
      lists.set(name, new Set(members.map((json) => String(viewOfJson(json).Email).toLowerCase())))
    }
    return lists
  })

  /** How many are on each list, which costs one request. */
  const readListCounts = (account: Account) =>
    Effect.map(
      read("listsGet", "/lists?limit=1000&counts=true", account),
      (lists): ListCounts =>
        new Map(lists.map((list) => [String(Object(list).ListName), Number(Object(list).Contacts)]))
    )

  /** Compares all that the service holds with the model. */
  const compareAll = Effect.fnUntraced(function* () {
    for (const account of accounts) {
      const { apiKeys, lists, mark, people, smtp } = account
      const contacts = (yield* readContacts(account)).map(viewOfJson)
      yield* expectEqual(contacts, Array.from(people.values(), viewOfPerson), `the contacts of ${mark}`)
      yield* expectEqual(yield* readListCounts(account), countsOf(lists), `the lists of ${mark}`)
      const keys = (yield* readKeys(account)).map(viewOfCredentialJson)
      yield* expectEqual(keys, Array.from(apiKeys.values(), viewOfCredential), `the API keys of ${mark}`)
      const logins = (yield* readSmtp(account)).map(viewOfCredentialJson)
      yield* expectEqual(logins, Array.from(smtp.values(), viewOfCredential), `the SMTP credentials of ${mark}`)
    }
  })

  /** Takes over the contacts of an account after a change that the model does not know. */
  const learnContacts = Effect.fnUntraced(function* (account: Account) {
    const people = (yield* readContacts(account)).map(personOfJson)
    account.people = new Map(people.map((person) => [person.email.toLowerCase(), person]))
  })

  /** The same for credentials, of which a new one has this token. */
  const learnCredentials = Effect.fnUntraced(function* (answer: unknown, isDeleted: boolean) {
    const fresh = Predicate.isObject(answer) ? [answer["Name"], answer["Token"]] : []
    for (const account of accounts) {
      const learn = (known: ReadonlyMap<string, Credential>, seen: ReadonlyArray<unknown>) => {
        const tokenOf = (name: string) => (name === fresh[0] && fresh[1] !== undefined ? String(fresh[1]) : undefined)
        return seen.map((json) => {
          const { name } = credentialOfJson(json, "")
          return credentialOfJson(json, known.get(name)?.token ?? tokenOf(name) ?? "")
        })
      }
      const keys = learn(account.apiKeys, yield* readKeys(account))
      if (isDeleted) {
        for (const { name, token } of account.apiKeys.values()) {
          if (token !== "" && !keys.some((key) => key.name === name)) world.dead.push(token)
        }
      }
      account.apiKeys = new Map(keys.map((key) => [key.name, key]))
      const logins = learn(account.smtp, yield* readSmtp(account))
      account.smtp = new Map(logins.map((login) => [login.name.toLowerCase(), login]))
    }
  })

  const jobsEnd = store.openJobs.pipe(
    Effect.repeat({ schedule: Schedule.spaced("5 millis"), until: (open) => open === 0 }),
    Effect.timeout("2 minutes"),
    Effect.orDie
  )

  // The administrator makes the key of each account that no call changes.
  for (const account of accounts) {
    const payload = {
      Name: keeper,
      AccessLevel: levels,
      ...(account === main ? {} : { Subaccount: account.subaccount })
    }
    const sent = {
      method: "POST",
      path: "/security/apikeys",
      headers: { "Content-Type": "application/json" },
      body: Buffer.from(JSON.stringify(payload))
    }
    const { text } = yield* asked(operationOf("securityApikeysPost"), sent, administrator, main)
    const json: unknown = parsed(text)
    addCredential("apiKeys", account, credentialOfJson(json, String(Object(json).Token)))
  }
  const [first] = yield* readKeys(main)
  const own = credentialOfJson(first, serve.apiKey)
  main.apiKeys = new Map([[own.name, own], ...main.apiKeys])

  /** Keyed calls that may be sent again. */
  const kept: Array<{
    readonly call: Call
    readonly account: Account
    readonly answer: Answer
    readonly sees: boolean
  }> = []

  /** Levels change, so this is asked before the call. */

  const repeatKept = Effect.fnUntraced(function* () {
    const { account, answer, call, sees } = dice.pick(kept)
    const { operation, sent } = call
    const isOther = dice.chance(0.3)
    const other =
      sent.body.length === 0
        ? { ...sent, path: `${sent.path}&compressionFormat=None` }
        : { ...sent, body: Buffer.concat([sent.body, Buffer.from(" ")]) }
    const asker = modelled.right(operations.get(operation)?.requiredAccess ?? "", account)
    const again = yield* asked(operationOf(operation), isOther ? other : sent, asker, account)
    // The answer that shows contacts is kept for those who may see as much.
    const isHidden = operation === "contactsPost" && mayView(asker) !== sees
    const expected = asker.refusal ?? (isOther || isHidden ? 409 : answer.status)
    yield* expectEqual(again.status, expected, `the status of a repeated ${operation}`)
    // A repeated export has a new link.
    const shown = ({ text }: Answer) =>
      operation === "contactsExportPost" ? Object(parsed(text)).PublicExportID : text
    if (again.status < 300) yield* expectEqual(shown(again), shown(answer), `the answer to a repeated ${operation}`)
  })

  const callModelled = Effect.fnUntraced(function* () {
    const drawn = modelled.next()
    const isKept = drawn.isKeyed === true && dice.chance(0.3)
    const call = isKept
      ? {
          ...drawn,
          sent: { ...drawn.sent, headers: { ...drawn.sent.headers, "Idempotency-Key": `call-${at}-of-${seed}` } }
        }
      : drawn
    const { apply, asker, operation, sent, starts, status, view } = call
    const account = asker.caller?.account
    const answer = yield* asked(operationOf(operation), sent, asker, account)
    // A long run makes more changes of credentials than an hour may have.
    if (answer.status === 429 && answer.text.includes("times within an hour")) return
    if (answer.status !== status) {
      return yield* found(
        `${operation} gets ${answer.status} and not ${status}: ${sent.body.toString().slice(0, 2000)}\n${answer.text.slice(0, 2000)}`
      )
    }
    const json = parsed(answer.text)
    if (status < 300) {
      apply?.(json)
      if (isKept && account !== undefined) kept.push({ call, account, answer, sees: mayView(asker) })
      if (kept.length > 50) kept.shift()
    }
    if (starts !== undefined) yield* jobsEnd
    if (view === undefined) return
    if (starts === undefined) return yield* expectEqual(view.of(json), view.expected(), operation)
    const { pathname } = new URL(String(Object(json).Link))
    const path = pathname.slice(`/${versionSegment}`.length)
    // From an address of the key that asked for it.
    const file = yield* ask({ method: "GET", path, ...empty }, { peer: asker.peer, token: undefined })
    if (file.status !== 200) return yield* found(`the file of an export gets ${file.status}`)
    yield* expectEqual(view.of(parsed(file.text)), view.expected(), "the file of an export")
  })

  const answeredBeside = Effect.fnUntraced(function* (draw: Drawn) {
    const { asker, operation, sent } = draw()
    const answer = yield* asked(operationOf(operation), sent, asker, asker.caller?.account)
    return { draw, answer, json: parsed(answer.text) }
  })

  const heldFor = Effect.fnUntraced(function* (account: Account) {
    return {
      account,
      contacts: yield* readContacts(account),
      logins: yield* readSmtp(account),
      lists: yield* readListCounts(account)
    }
  })

  /** Makes some calls at once; which order of them explains the answers is not known before. */
  const callAtOnce = Effect.fnUntraced(function* () {
    const calls = yield* Effect.forEach(modelled.some(), answeredBeside, { concurrency: "unbounded" })
    at += calls.length - 1
    const held = yield* Effect.forEach(accounts, heldFor)
    if (explain(accounts, calls, held)) return
    const told = calls.map(
      ({ answer, draw }) => `${printed(draw().sent, answer)}\n${draw().sent.body.toString()}\n${answer.text}`
    )
    return yield* found(`no order explains ${calls.length} calls at once:\n${told.join("\n")}`.slice(0, 8000))
  })

  let generating = main
  const { generate } = makeGenerator(contract, dice, (name, of) => wordsOf(accounts, generating)(name, of))

  const callGenerated = Effect.fnUntraced(function* () {
    generating = dice.pick(accounts)
    const account = generating
    const { operation, sent } = generate()
    const asker = modelled.right(operations.get(operation?.id ?? "")?.requiredAccess ?? "Security", account)
    const answer = yield* asked(operation, sent, asker, account)
    if (answer.status === 0 || answer.status >= 300) return
    for (const [, id] of answer.text.matchAll(/"(?:Id|id|MessageID)":"([^"]+)"/g))
      account.ids[kindOf(operation?.id)].push(id ?? "")
    if (sent.method === "GET" || sent.method === "HEAD") return
    if (operation === undefined) return
    const { id } = operation
    // The link of a cancelled export ends, and its state is another one.
    if (id === "accountJobsByIdCancelPost") account.exports = account.exports.filter((id) => !sent.path.includes(id))
    if (id === "contactsImportPost" || id === "contactsExportPost") yield* jobsEnd
    if (id.startsWith("security")) return yield* learnCredentials(parsed(answer.text), sent.method === "DELETE")
    // It may have ended a run, by its id in the path or as the one that another run undoes.
    if (id.startsWith("runs")) {
      const asked = `${sent.path}${sent.body.toString()}`
      account.runs = account.runs.filter((run) => !asked.includes(run.id))
    }
    if (id.startsWith("contacts") && id !== "contactsExportPost") yield* learnContacts(account)
    if (id.startsWith("lists") || id.startsWith("contacts")) account.lists = yield* readLists(account)
  })

  let nextComparison = comparedEvery
  for (at = 1; at <= calls; at++) {
    if (kept.length > 0 && dice.chance(0.02)) yield* repeatKept()
    else if (dice.chance(0.08)) yield* callAtOnce()
    else if (dice.chance(0.35)) yield* callGenerated()
    else yield* callModelled()
    if (at >= nextComparison) {
      yield* compareAll()
      nextComparison = at + comparedEvery
    }
  }
  yield* compareAll()
  yield* serve.stop
  const integrity = yield* store.integrity
  if (integrity !== "ok") return yield* found(integrity)
  for (const [name, text] of [
    ["store", yield* store.content],
    ["output", serve.output()]
  ] as const) {
    if (secretsIn(text).some((secret) => tokens.has(secret))) return yield* found(`a secret is in the ${name}`)
  }
  return { byStatus, successes, operations: contract.operations.size }
}, Effect.scoped)
