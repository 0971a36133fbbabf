/** What a service has to hold after what was asked of it: accounts, their contacts, credentials, lists and exports. */
import { Predicate } from "effect"

/** A contact, as far as its answers depend on requests alone. */
export interface Person {
  readonly email: string
  readonly status: string
  readonly firstName: string | undefined
  readonly lastName: string | undefined
  readonly fields: ReadonlyMap<string, string>
  readonly consent: Readonly<Record<string, unknown>>
  readonly source: string
}

export interface Credential {
  readonly name: string
  readonly levels: ReadonlyArray<string>
  readonly expires: string | null
  readonly ranges: ReadonlyArray<string>
  /** The secret, which only the answer to its creation had. */
  readonly token: string
}

/** A run, to which calls add what they create and delete. */
export interface Run {
  readonly id: string
  /** The key that began it. */
  readonly by: Credential
  isEnded: boolean
  created: number
  deleted: number
}

export interface Account {
  /** The address of the subaccount; empty for the main account. */
  readonly subaccount: string
  /** Occurs in every address and name of the account, and in those of no other. */
  readonly mark: string
  /** By the form of the address that is unique, in the order of adding. */
  people: Map<string, Person>
  apiKeys: Map<string, Credential>
  smtp: Map<string, Credential>
  /** Who is on each list, by the same form of the address. */
  lists: Map<string, ReadonlySet<string>>
  /** Runs that these calls began, and may name. */
  runs: ReadonlyArray<Run>
  exports: Array<string>
  /** Ids that answers had, by what they are of. */
  readonly ids: Readonly<Record<"runs" | "jobs" | "emails", Array<string>>>
}

/** A key that calls, and from where. */
export interface Caller {
  readonly account: Account
  readonly key: Credential
  /** The address of the client. */
  readonly peer: string
}

export const makeAccount = (subaccount: string, mark: string): Account => ({
  subaccount,
  mark,
  people: new Map(),
  apiKeys: new Map(),
  smtp: new Map(),
  lists: new Map(),
  runs: [],
  exports: [],
  ids: { runs: [], jobs: [], emails: [] }
})

export const managing = "ModifyAccessTokens"

type Json = Readonly<Record<string, unknown>>

const jsonOf = (value: unknown): Json => (Predicate.isObject(value) ? value : {})

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** What is given and not null. */
const given = (value: unknown): Json =>
  Object.fromEntries(Object.entries(jsonOf(value)).filter(([, item]) => item !== null && item !== undefined))

/** The fields of a record in one order, of which nothing depends. */
const inOrder = (fields: Iterable<readonly [string, unknown]>) =>
  [...fields].sort(([one], [other]) => (one < other ? -1 : 1))

/** The fields of a contact that the model knows, of an answer or of the model. */
export const viewOfJson = (value: unknown) => {
  const { Consent, CustomFields, Email, FirstName, LastName, Source, Status } = jsonOf(value)
  return {
    Email,
    Status,
    FirstName,
    LastName,
    CustomFields: inOrder(Object.entries(jsonOf(CustomFields))),
    Consent: inOrder(Object.entries(given(Consent))),
    Source
  }
}

export const viewOfPerson = ({ consent, email, fields, firstName, lastName, source, status }: Person) => ({
  Email: email,
  Status: status,
  FirstName: firstName,
  LastName: lastName,
  CustomFields: inOrder(fields),
  Consent: inOrder(Object.entries(consent)),
  Source: source
})

/** The same for a key that may not view contacts: what it sent, as it is now. */
export const viewOfSent = (person: Person, sent: Json) => {
  const { Consent, CustomFields, Email, FirstName, LastName, Status } = given(sent)
  const only = (names: Json, values: Json) => Object.entries(values).filter(([name]) => name in names)
  const fields = Object.keys(jsonOf(CustomFields)).flatMap((name) => {
    const [, value] = [...person.fields].find(([own]) => folded(own) === folded(name)) ?? []
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...viewOfPerson(person),
    Email,
    Status: Status === undefined ? undefined : person.status,
    FirstName: FirstName === undefined ? undefined : person.firstName,
    LastName: LastName === undefined ? undefined : person.lastName,
    CustomFields: inOrder(fields),
    Consent: inOrder(only(given(Consent), person.consent)),
    Source: undefined
  }
}

export const personOfJson = (value: unknown): Person => {
  const { Consent, CustomFields, Email, FirstName, LastName, Source, Status } = jsonOf(value)
  return {
    email: String(Email),
    status: String(Status),
    firstName: textOf(FirstName),
    lastName: textOf(LastName),
    fields: new Map(Object.entries(jsonOf(CustomFields)).map(([name, field]) => [name, String(field)])),
    consent: given(Consent),
    source: String(Source)
  }
}

/** The same for credentials of either kind. */
export const viewOfCredentialJson = (value: unknown) => {
  const { AccessLevel, Expires, Name, RestrictAccessToIPRange } = jsonOf(value)
  return { Name, AccessLevel: [AccessLevel].flat(), Expires, RestrictAccessToIPRange }
}

export const viewOfCredential = ({ expires, levels, name, ranges }: Credential) => ({
  Name: name,
  AccessLevel: levels,
  Expires: expires,
  RestrictAccessToIPRange: ranges
})

export const credentialOfJson = (value: unknown, token: string): Credential => {
  const { AccessLevel, Expires, Name, RestrictAccessToIPRange } = jsonOf(value)
  return {
    name: String(Name),
    levels: [AccessLevel].flat().map(String),
    expires: textOf(Expires) ?? null,
    ranges: [RestrictAccessToIPRange].flat().map(String),
    token
  }
}

/** Addresses of the model are ASCII, and in no other form equal but for their case. */
export const identityOf = (email: string): string => email.toLowerCase()

/** The form in which the names of fields are compared. */
const folded = (name: string): string => name.normalize("NFC").toLowerCase()

/** The custom fields of a contact after a change; an empty one removes the one before it. */
const mergedFields = (before: Iterable<readonly [string, string]> = [], given: unknown) => {
  const merged = new Map(before)
  for (const [name, value] of Object.entries(jsonOf(given))) {
    // The names of a contact are equal in any case, and keep their first spelling.
    const kept = [...merged.keys()].find((one) => folded(one) === folded(name)) ?? name
    if (value === "") merged.delete(kept)
    else merged.set(kept, String(value))
  }
  return merged
}

/** A value after a change; an empty text removes the one before it. */
const afterGiven = (before: string | undefined, given: unknown): string | undefined =>
  (textOf(given) ?? before) || undefined

/** The statuses that stop mail, the strictest last. */
const withheld = ["NotConfirmed", "Bounced", "Unsubscribed", "Abuse"]
const strictest = (statuses: ReadonlyArray<string>): string | undefined =>
  statuses.toSorted((one, other) => withheld.indexOf(one) - withheld.indexOf(other)).at(-1)

/** The status by a file, whose rows of an address count together: it resubscribes nobody, and asks nobody anew to confirm. */
const statusByFile = (before: string | undefined, rows: ReadonlyArray<string>): string | undefined => {
  const status = strictest(rows)
  if (before === undefined || status === undefined) return status
  return status === "NotConfirmed" ? before : strictest([before, status])
}

/** Adds contacts or changes them, as a request or a file gives them. */
export const upsert = ({ people }: Account, payloads: ReadonlyArray<unknown>, source: string): void => {
  const rows = Map.groupBy(payloads.map(given), ({ Email }) => identityOf(String(Email)))
  const byFile = new Map(
    Array.from(rows, ([email, rows]) => {
      const statuses = rows.flatMap(({ Status }) => textOf(Status) ?? [])
      return [email, statusByFile(people.get(email)?.status, statuses)]
    })
  )
  for (const payload of payloads) {
    const { Consent, CustomFields, Email, FirstName, LastName, Status } = given(payload)
    const email = String(Email)
    const before = people.get(identityOf(email))
    people.set(identityOf(email), {
      email: before?.email ?? email,
      status: (source === "FileUpload" ? byFile.get(identityOf(email)) : textOf(Status)) ?? before?.status ?? "Active",
      firstName: afterGiven(before?.firstName, FirstName),
      lastName: afterGiven(before?.lastName, LastName),
      fields: mergedFields(before?.fields, CustomFields),
      consent: Object.fromEntries(
        Object.entries({ ...before?.consent, ...given(Consent) }).filter(([, value]) => value !== "")
      ),
      source: before?.source ?? source
    })
  }
}

/** Puts addresses on a list, which is made, or takes them off. Only those of contacts count. */
export const place = (account: Account, list: string, emails: ReadonlyArray<string>, isOn: boolean): void => {
  const those = new Set(emails.map(identityOf).filter((email) => account.people.has(email)))
  const before = account.lists.get(list) ?? new Set()
  account.lists.set(list, new Set(isOn ? [...before, ...those] : [...before].filter((email) => !those.has(email))))
}

/** How many are on each list. */
export type ListCounts = ReadonlyMap<string, number>

export const countsOf = (lists: Account["lists"]): ListCounts =>
  new Map(Array.from(lists, ([name, members]) => [name, members.size]))

/** Keeps those contacts for which this holds. */
export const keepOnly = (account: Account, isKept: (person: Person) => boolean): void => {
  account.people = new Map([...account.people].filter(([, person]) => isKept(person)))
  const { people } = account
  account.lists = new Map(
    Array.from(account.lists, ([name, members]) => [name, new Set([...members].filter((email) => people.has(email)))])
  )
}

/** Whether a run takes the writes of a key: it is open, and the key or one of its name began it. */
export const takesWrites = ({ by, isEnded }: Run, key: Credential): boolean =>
  !isEnded && (by.token === key.token || by.name === key.name)

const bitsOf = (address: string): number => address.split(".").reduce((bits, octet) => bits * 256 + Number(octet), 0)

/** The first and the last address of an IPv4 range. */
const boundsOf = (range: string): readonly [number, number] => {
  const [address = "", prefix = "32"] = range.split("/")
  const size = 2 ** (32 - Number(prefix))
  const first = Math.floor(bitsOf(address) / size) * size
  return [first, first + size - 1]
}

const isWithin = (range: string, ranges: ReadonlyArray<string>): boolean => {
  const [first, last] = boundsOf(range)
  return ranges.some((other) => boundsOf(other)[0] <= first && last <= boundsOf(other)[1])
}

export const mayCallFrom = ({ ranges }: Pick<Credential, "ranges">, peer: string): boolean =>
  ranges.length === 0 || isWithin(peer, ranges)

type Scope = Pick<Credential, "levels" | "expires" | "ranges">

/** Whether a scope goes no further than that of the key that gives it. */
const isGranted = (scope: Scope, by: Scope): boolean =>
  scope.levels.every((level) => level === "None" || by.levels.includes(level)) &&
  (by.expires === null || (scope.expires !== null && scope.expires <= by.expires)) &&
  (by.ranges.length === 0 || (scope.ranges.length > 0 && scope.ranges.every((range) => isWithin(range, by.ranges))))

/** Whether the main account loses its last key that manages keys by a change. */
const isLastManager = ({ account, peer }: Caller, of: Account, row: Credential, next: Scope | undefined): boolean => {
  if (of.subaccount !== "" || account.subaccount !== "" || !row.levels.includes(managing)) return false
  const canReplace = (scope: Scope) =>
    scope.levels.includes(managing) &&
    (scope.expires === null || (row.expires !== null && scope.expires >= row.expires)) &&
    mayCallFrom(scope, peer)
  if (next !== undefined && canReplace(next)) return false
  return ![...of.apiKeys.values()].some((key) => key.name !== row.name && canReplace(key))
}

export type Kind = "apiKeys" | "smtp"

const keyOf = (kind: Kind, name: string) => (kind === "smtp" ? identityOf(name) : name)

export interface CredentialPayload {
  readonly Name: string
  readonly AccessLevel?: ReadonlyArray<string>
  readonly Expires?: string | null
  readonly RestrictAccessToIPRange?: ReadonlyArray<string>
  readonly Subaccount?: string
}

const levelsOf = (kind: Kind, { AccessLevel = [] }: CredentialPayload) =>
  kind === "smtp" ? ["SendSmtp"] : [...new Set(AccessLevel)]

const isPast = (expires: string | null | undefined) => typeof expires === "string" && expires < "2026"

/** The account whose credentials a caller asks for; `undefined` if it is none of its business. */
export const accountFor = (
  { account }: Caller,
  accounts: ReadonlyArray<Account>,
  subaccount: string | undefined
): Account | undefined => {
  if (subaccount === undefined) return account
  const asked = accounts.find((other) => other.subaccount === identityOf(subaccount))
  return account.subaccount === "" || account === asked ? asked : undefined
}

const isTaken = (kind: Kind, accounts: ReadonlyArray<Account>, account: Account, name: string) =>
  kind === "smtp" ? accounts.some((other) => other.smtp.has(identityOf(name))) : account.apiKeys.has(name)

/** Credentials of one kind in an account. */
export const maximumCredentials = 15

/** The status that the creation of a credential has to get, and what it makes. */
export const createCredential = (
  kind: Kind,
  caller: Caller,
  accounts: ReadonlyArray<Account>,
  payload: CredentialPayload
): { readonly status: number; readonly made?: Omit<Credential, "token">; readonly of?: Account } => {
  const account = accountFor(caller, accounts, payload.Subaccount)
  const next: Scope = {
    levels: levelsOf(kind, payload),
    expires: payload.Expires ?? null,
    ranges: payload.RestrictAccessToIPRange ?? []
  }
  if (!isGranted(next, caller.key) || account === undefined) return { status: 403 }
  if (isPast(payload.Expires)) return { status: 400 }
  if (isTaken(kind, accounts, account, payload.Name) || account[kind].size >= maximumCredentials) return { status: 409 }
  return { status: 201, made: { name: payload.Name, ...next }, of: account }
}

/** The same for a change, which may be another name. */
export const updateCredential = (
  kind: Kind,
  caller: Caller,
  accounts: ReadonlyArray<Account>,
  name: string,
  payload: CredentialPayload
): { readonly status: number; readonly changed?: Credential; readonly of?: Account } => {
  const account = accountFor(caller, accounts, payload.Subaccount)
  const row = account?.[kind].get(keyOf(kind, name))
  const next: Scope = {
    levels: levelsOf(kind, payload),
    expires: payload.Expires === undefined ? (row?.expires ?? null) : payload.Expires,
    ranges: payload.RestrictAccessToIPRange ?? row?.ranges ?? []
  }
  if (!isGranted(next, caller.key) || (row !== undefined && !isGranted(row, caller.key))) return { status: 403 }
  if (row === undefined || account === undefined) return { status: 404 }
  if (isPast(payload.Expires)) return { status: 400 }
  if (kind === "apiKeys" && isLastManager(caller, account, row, next)) return { status: 409 }
  const isRenamed = keyOf(kind, payload.Name) !== keyOf(kind, row.name)
  if (isRenamed && isTaken(kind, accounts, account, payload.Name)) return { status: 409 }
  return { status: 200, changed: { name: payload.Name, token: row.token, ...next }, of: account }
}

/** The same for a deletion. */
export const deleteCredential = (
  kind: Kind,
  caller: Caller,
  accounts: ReadonlyArray<Account>,
  name: string,
  subaccount: string | undefined
): { readonly status: number; readonly of?: Account } => {
  const account = accountFor(caller, accounts, subaccount)
  const row = account?.[kind].get(keyOf(kind, name))
  if (row === undefined || account === undefined) return { status: 404 }
  if (!isGranted(row, caller.key)) return { status: 403 }
  if (kind === "apiKeys" && isLastManager(caller, account, row, undefined)) return { status: 409 }
  return { status: 200, of: account }
}

/** Puts a credential in the place of another one, which keeps its turn. */
export const replaceCredential = (kind: Kind, account: Account, name: string, next: Credential): void => {
  account[kind] = new Map(
    Array.from(account[kind], ([key, credential]) =>
      key === keyOf(kind, name) ? [keyOf(kind, next.name), next] : [key, credential]
    )
  )
}

export const findCredential = (kind: Kind, account: Account | undefined, name: string): Credential | undefined =>
  account?.[kind].get(keyOf(kind, name))

export const addCredential = (kind: Kind, account: Account, credential: Credential): void => {
  account[kind].set(keyOf(kind, credential.name), credential)
}

export const removeCredential = (kind: Kind, account: Account, name: string): void => {
  account[kind].delete(keyOf(kind, name))
}
