/** Calls whose answer the model knows: every operation, by keys that may call it and by keys that may not. */
import type { Dice } from "./Dice.ts"
import { formOf, jsonBody, type Sent } from "./GeneratedRequests.ts"
import {
  type Account,
  accountFor,
  addCredential,
  type Caller,
  createCredential,
  type Credential,
  type CredentialPayload,
  credentialOfJson,
  deleteCredential,
  findCredential,
  identityOf,
  type Kind,
  managing,
  mayCallFrom,
  type Person,
  removeCredential,
  replaceCredential,
  updateCredential,
  upsert,
  viewOfCredential,
  viewOfCredentialJson,
  viewOfJson,
  viewOfPerson
} from "./Model.ts"

/** A key in the header of a request, and what becomes of the request by it alone. */
export interface Asker {
  readonly token: string | undefined
  readonly peer: string
  readonly caller: Caller | undefined
  readonly refusal: 401 | 403 | undefined
}

export interface Call {
  readonly operation: string
  readonly sent: Sent
  readonly asker: Asker
  readonly status: number
  /** What the model shows of the answer, and what it has to be once the model did the same. */
  readonly view?: { readonly of: (json: unknown) => unknown; readonly expected: () => unknown }
  /** Does to the model what the call does. */
  readonly apply?: (json: unknown) => void
  readonly starts?: "import" | "export"
  /** May be sent again with the same Idempotency-Key. */
  readonly isKeyed?: boolean
}

export interface World {
  /** The main account, and two subaccounts. */
  readonly accounts: ReadonlyArray<Account>
  /** Keys that were deleted. */
  readonly dead: Array<string>
  /** Contacts as the schema of payloads has them, encoded. */
  readonly payloads: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** The levels of the operations. */
export const levels = [
  "ViewContacts",
  "ModifyContacts",
  "Export",
  "Security",
  managing,
  "SendHttp",
  "SendSmtp",
  "ViewReports"
]

/** The key of each account that has all levels and is never changed by these calls. */
export const keeper = "keeper"

const ranges = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.0.2.0/24"]
const peers = ["10.1.2.3", "10.9.9.9", "192.0.2.44", "198.51.100.7"]
const expiries = ["2098-01-02T03:04:05Z", "2099-12-31T23:59:59Z"]
const statuses = ["Transactional", "Engaged", "Active", "Bounced", "Unsubscribed", "Stale", "NotConfirmed"]
const zones = ["north", "South", "EAST", ""]

/** The name of a custom field that only these calls give. */
const zone = "Zone"

/** A contact with more custom fields gets no further ones here, since the bounds of contacts have tests of their own. */
const manyFields = 90

const addresses = 60

const empty = { headers: {}, body: Buffer.alloc(0) }

const nobody = "00000000-0000-4000-8000-000000000000"

const encoded = encodeURIComponent

interface ModelRule {
  readonly text: string
  readonly holds: (person: Person) => boolean
}

export const emailsOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: addresses }, (_, index) => `p${index}.${mark}@example.com`)

export const keyNamesOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: 18 }, (_, index) => `key ${index} of ${mark}`)

export const smtpNamesOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: 18 }, (_, index) => `login${index}.${mark}@example.com`)

export const listNamesOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: 4 }, (_, index) => `list ${index} of ${mark}`)

export const makeCalls = ({ accounts, dead, payloads }: World, dice: Dice) => {
  const { below, chance, pick, some } = dice
  let strangers = 0
  /** An address that never called before, since those with wrong keys wait. */
  const stranger = () => {
    strangers++
    return `${20 + ((strangers >> 24) & 63)}.${(strangers >> 16) & 255}.${(strangers >> 8) & 255}.${strangers & 255}`
  }
  const peerOf = (key: Credential, inside = true) => {
    const fitting = peers.filter((peer) => mayCallFrom(key, peer) === inside)
    return fitting.length === 0 ? undefined : pick(fitting)
  }

  const keysOf = (account: Account) => [...account.apiKeys.values()].filter(({ token }) => token !== "")

  const right = (level: string, account: Account): Asker => {
    const key = pick(keysOf(account).filter(({ levels }) => levels.includes(level)))
    const peer = peerOf(key) ?? pick(peers)
    return { token: key.token, peer, caller: { account, key, peer }, refusal: mayCallFrom(key, peer) ? undefined : 403 }
  }

  const askerFor = (level: string, account: Account = pick(accounts)): Asker => {
    const wrong = (token: string | undefined): Asker => ({ token, peer: stranger(), caller: undefined, refusal: 401 })
    const refused = (key: Credential | undefined, peer: string | undefined): Asker =>
      key === undefined || peer === undefined
        ? right(level, account)
        : { token: key.token, peer, caller: undefined, refusal: 403 }
    const luck = below(100)
    if (luck < 3 && dead.length > 0) return wrong(pick(dead.slice(-50)))
    if (luck < 5) return wrong(pick([undefined, "x", "roster_", `roster_${"0".repeat(45)}`, "Bearer x"]))
    if (luck < 9) {
      const key = keysOf(account).find(({ levels }) => !levels.includes(level))
      return refused(key, key === undefined ? undefined : peerOf(key))
    }
    if (luck < 11) {
      const key = keysOf(account).find(({ levels, ranges }) => levels.includes(level) && ranges.length > 0)
      return refused(key, key === undefined ? undefined : peerOf(key, false))
    }
    return right(level, account)
  }

  /** A call, of which nothing is left but the refusal if the key may not make it. */
  const made = (call: Call): Call => {
    const { asker, operation, sent } = call
    return asker.refusal === undefined ? call : { operation, sent, asker, status: asker.refusal }
  }

  const sentTo = (method: string, path: string, content: Pick<Sent, "headers" | "body"> = empty): Sent => ({
    method,
    path,
    ...content
  })

  /** In some other case, which is the same address. */
  const spelled = (email: string) => (chance(0.1) ? email.toUpperCase() : email)

  const ofAsker = ({ caller }: Asker, fallback: Account): Account => caller?.account ?? fallback

  const someEmail = (account: Account) => {
    // Now and then one of another account, which is nobody here.
    const from = chance(0.05) ? pick(accounts) : account
    return pick(emailsOf(from))
  }

  const somePayload = (account: Account): Readonly<Record<string, unknown>> => {
    const Email = pick(emailsOf(account))
    const person = account.people.get(Email)
    if (person !== undefined && person.fields.size > manyFields)
      return { Email: spelled(Email), FirstName: account.mark }
    const drawn = pick(payloads)
    const fields: unknown = drawn["CustomFields"]
    return {
      ...drawn,
      Email: spelled(Email),
      ...(chance(0.5) ? { FirstName: `${account.mark} ${String(drawn["FirstName"] ?? "")}` } : {}),
      ...(chance(0.3) ? { CustomFields: { ...Object(fields), [zone]: pick(zones) } } : {})
    }
  }

  const rules: ReadonlyArray<() => ModelRule> = [
    () => {
      const status = pick(statuses)
      return {
        text: `status = ${chance(0.5) ? status : `'${status.toLowerCase()}'`}`,
        holds: (person) => person.status === status
      }
    },
    () => {
      const source = pick(["ContactApi", "FileUpload"])
      return { text: `source = ${source}`, holds: (person) => person.source === source }
    },
    () => {
      const value = pick(zones)
      const isIt = (person: Person) => (person.fields.get(zone) ?? "").toLowerCase() === value.toLowerCase()
      return chance(0.5)
        ? { text: `zone = '${value}'`, holds: isIt }
        : { text: `ZONE != '${value}'`, holds: (person) => !isIt(person) }
    },
    () => {
      const beginning = `p${below(10)}`
      return {
        text: `email starts-with '${beginning}'`,
        holds: ({ email }) => email.toLowerCase().startsWith(beginning)
      }
    },
    () => ({ text: "firstname = ''", holds: ({ firstName = "" }) => firstName === "" })
  ]

  const someRule = (either = 2): ModelRule => {
    const one = pick(rules)()
    const other = pick(rules)()
    return dice.weighted<ModelRule>([
      [4, one],
      [2, { text: `${one.text} AND (${other.text})`, holds: (person) => one.holds(person) && other.holds(person) }],
      [either, { text: `(${one.text} OR ${other.text})`, holds: (person) => one.holds(person) || other.holds(person) }]
    ])
  }

  /** Two rules of which one holds may select every contact, which a deletion refuses. */
  const narrowRule = () => someRule(0)

  const people = ({ people }: Account) => [...people.values()]

  const getContact = (): Call => {
    const asker = askerFor("ViewContacts")
    const account = ofAsker(asker, pick(accounts))
    const email = someEmail(account)
    const person = account.people.get(email)
    return {
      operation: "contactsByEmailGet",
      asker,
      sent: sentTo("GET", `/contacts/${encoded(spelled(email))}`),
      status: person === undefined ? 404 : 200,
      ...(person === undefined ? {} : { view: { of: viewOfJson, expected: () => viewOfPerson(person) } })
    }
  }

  const putContact = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = ofAsker(asker, pick(accounts))
    const email = someEmail(account)
    const { CustomFields = {}, FirstName = null } = somePayload(account)
    const isKnown = account.people.has(email)
    const isFull = (account.people.get(email)?.fields.size ?? 0) > manyFields
    const change = {
      FirstName,
      ...(isFull ? {} : { CustomFields }),
      ...(chance(0.5) ? { LastName: account.mark } : {})
    }
    return {
      operation: "contactsByEmailPut",
      asker,
      sent: sentTo("PUT", `/contacts/${encoded(spelled(email))}`, jsonBody(change)),
      status: isKnown ? 200 : 404,
      ...(isKnown
        ? {
            apply: () => upsert(account, [{ ...change, Email: email }], ""),
            view: { of: viewOfJson, expected: () => viewOfPerson(personOf(account, email)) }
          }
        : {})
    }
  }

  const personOf = (account: Account, email: string): Person => {
    const found = account.people.get(identityOf(email))
    if (found === undefined) throw new Error("the model has no such contact")
    return found
  }

  const deleteContact = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = ofAsker(asker, pick(accounts))
    const email = someEmail(account)
    return {
      operation: "contactsByEmailDelete",
      asker,
      sent: sentTo("DELETE", `/contacts/${encoded(spelled(email))}`),
      status: account.people.has(email) ? 200 : 404,
      apply: () => account.people.delete(email)
    }
  }

  const postContacts = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = ofAsker(asker, pick(accounts))
    const count = dice.weighted([
      [60, 1 + below(4)],
      [10, 40],
      [1, 0],
      [0.3, 1001]
    ])
    const contacts = Array.from({ length: count }, () => somePayload(account))
    const lists = some(listNamesOf(account), 0.15)
    const query = lists.length === 0 ? "" : `?${lists.map((name) => `listnames=${encoded(name)}`).join("&")}`
    return {
      operation: "contactsPost",
      asker,
      sent: sentTo("POST", `/contacts${query}`, jsonBody(contacts)),
      status: count > 1000 ? 400 : 200,
      isKeyed: true,
      ...(count > 1000
        ? {}
        : {
            apply: () => {
              upsert(account, contacts, "ContactApi")
              for (const name of lists) account.lists.add(name)
            },
            view: {
              of: (json) => [json].flat().map(viewOfJson),
              expected: () => contacts.map(({ Email }) => viewOfPerson(personOf(account, String(Email))))
            }
          })
    }
  }

  const listContacts = (): Call => {
    const asker = askerFor("ViewContacts")
    const account = ofAsker(asker, pick(accounts))
    const rule = chance(0.4) ? someRule() : undefined
    const [limit, offset] = [pick([undefined, 0, 1, 7, 1000, 1001]), pick([undefined, 0, 3, 100_000])]
    const parameters = [
      ...(limit === undefined ? [] : [`limit=${limit}`]),
      ...(offset === undefined ? [] : [`offset=${offset}`]),
      ...(rule === undefined ? [] : [`rule=${encoded(rule.text)}`])
    ]
    const from = offset ?? 0
    return {
      operation: "contactsGet",
      asker,
      sent: sentTo("GET", `/contacts${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`),
      status: limit === 1001 ? 400 : 200,
      ...(limit === 1001
        ? {}
        : {
            view: {
              of: (json) => [json].flat().map(viewOfJson),
              expected: () =>
                people(account)
                  .filter(rule?.holds ?? (() => true))
                  .slice(from, from + (limit ?? 20))
                  .map(viewOfPerson)
            }
          })
    }
  }

  const deleteMany = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = ofAsker(asker, pick(accounts))
    const emails = Array.from({ length: 1 + below(5) }, () => spelled(someEmail(account)))
    const rule = chance(0.02) ? { text: "All", holds: () => true } : narrowRule()
    const [body, isMeant] = chance(0.6)
      ? [{ Emails: emails }, ({ email }: Person) => emails.some((one) => identityOf(one) === identityOf(email))]
      : [{ Rule: rule.text }, rule.holds]
    return {
      operation: "contactsDeletePost",
      asker,
      sent: sentTo("POST", "/contacts/delete", jsonBody(body)),
      status: 200,
      isKeyed: true,
      apply: () => {
        account.people = new Map([...account.people].filter(([, person]) => !isMeant(person)))
      }
    }
  }

  const exportContacts = (): Call => {
    const asker = askerFor("Export")
    const account = ofAsker(asker, pick(accounts))
    const rule = someRule()
    const emails = Array.from({ length: 1 + below(4) }, () => someEmail(account))
    const [query, isMeant] = dice.weighted<readonly [string, (person: Person) => boolean]>([
      [2, ["", () => true]],
      [1, [`&rule=${encoded(rule.text)}`, rule.holds]],
      [1, [`&emails=${emails.map(encoded).join(",")}`, ({ email }) => emails.includes(identityOf(email))]]
    ])
    return {
      operation: "contactsExportPost",
      asker,
      sent: sentTo("POST", `/contacts/export?fileFormat=Json${query}`),
      status: 202,
      isKeyed: true,
      starts: "export",
      apply: (json) => account.exports.push(String(Object(json).PublicExportID)),
      // Of the file, which the runner downloads.
      view: {
        of: (json) => [json].flat().map(viewOfJson),
        expected: () => people(account).filter(isMeant).map(viewOfPerson)
      }
    }
  }

  const exportStatus = (): Call => {
    const asker = askerFor("Export")
    const account = ofAsker(asker, pick(accounts))
    const from = chance(0.2) ? pick(accounts) : account
    const id = from.exports.length === 0 || chance(0.1) ? nobody : pick(from.exports.slice(-30))
    const isOwn = account.exports.includes(id)
    return {
      operation: "contactsExportByIdStatusGet",
      asker,
      sent: sentTo("GET", `/contacts/export/${id}/status`),
      status: isOwn ? 200 : 404,
      ...(isOwn ? { view: { of: (json) => json, expected: () => "Ready" } } : {})
    }
  }

  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`

  const importContacts = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = ofAsker(asker, pick(accounts))
    const rows = Array.from({ length: 1 + below(6) }, () => {
      const FirstName = pick(["", "Ann", 'a"b,c', `${account.mark}\nsecond line`])
      const Status = pick(["", ...statuses])
      return { Email: spelled(pick(emailsOf(account))), FirstName, Status, CustomFields: { [zone]: pick(zones) } }
    })
    const file = [
      `Email,FirstName,Status,${zone}`,
      ...rows.map((row) => [row.Email, row.FirstName, row.Status, row.CustomFields[zone] ?? ""].map(cell).join(","))
    ].join("\r\n")
    const list = chance(0.3) ? pick(listNamesOf(account)) : undefined
    const isMissing = list !== undefined && !account.lists.has(list)
    // An empty cell leaves the field as it is.
    const given = (row: object): object => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ""))
    return {
      operation: "contactsImportPost",
      asker,
      sent: sentTo(
        "POST",
        `/contacts/import${list === undefined ? "" : `?listName=${encoded(list)}`}`,
        formOf([['name="file"; filename="people.csv"', file]])
      ),
      status: isMissing ? 400 : 202,
      ...(isMissing ? {} : { starts: "import" }),
      apply: () => {
        if (!isMissing) {
          const contacts = rows.map((row) => ({ ...given(row), CustomFields: given(row.CustomFields) }))
          upsert(account, contacts, "FileUpload")
        }
      }
    }
  }

  const send = (): Call => {
    const asker = askerFor("SendHttp")
    const isAllowed = chance(0.7)
    const From = isAllowed ? "Ann <ann@example.com>" : "ann@elsewhere.test"
    const message = { Recipients: [{ Email: "somebody@elsewhere.test" }], Content: { From, Subject: "Hello" } }
    return {
      operation: "emailsPost",
      asker,
      sent: sentTo("POST", "/emails", jsonBody(message)),
      status: isAllowed ? 200 : 400,
      isKeyed: isAllowed
    }
  }

  const namesOf = (kind: Kind, account: Account) => (kind === "smtp" ? smtpNamesOf(account) : keyNamesOf(account))

  /** The account that credentials are asked of, and how that is said. */
  const targetOf = (account: Account) => {
    const target = chance(0.3) ? pick(accounts) : account
    const subaccount = target === account || target.subaccount === "" ? undefined : spelled(target.subaccount)
    return { target: subaccount === undefined ? account : target, subaccount }
  }

  const someCredential = (kind: Kind, caller: Caller | undefined): CredentialPayload & { readonly target: Account } => {
    const account = caller?.account ?? pick(accounts)
    const { subaccount, target } = targetOf(account)
    // Logins are unique in the whole service.
    const taken = accounts.flatMap(({ smtp }) => Array.from(smtp.values(), ({ name }) => name))
    const AccessLevel = some(
      chance(0.8) && caller !== undefined ? levels.filter((level) => caller.key.levels.includes(level)) : levels
    )
    const Expires = dice.weighted<string | null | undefined>([
      [6, undefined],
      [2, null],
      [4, pick(expiries)],
      [0.3, "2001-01-01T00:00:00Z"]
    ])
    return {
      target,
      Name: kind === "smtp" && taken.length > 0 && chance(0.1) ? pick(taken) : pick(namesOf(kind, target)),
      ...(kind === "smtp" ? {} : { AccessLevel }),
      ...(Expires === undefined ? {} : { Expires }),
      ...(chance(0.3) ? { RestrictAccessToIPRange: some(ranges) } : {}),
      ...(subaccount === undefined ? {} : { Subaccount: subaccount })
    }
  }

  const pathOf = (kind: Kind, name?: string, subaccount?: string) =>
    `/security/${kind === "smtp" ? "smtp" : "apikeys"}${name === undefined ? "" : `/${encoded(name)}`}` +
    (subaccount === undefined ? "" : `?subaccount=${encoded(subaccount)}`)

  const operationOf = (kind: Kind, rest: string) => `security${kind === "smtp" ? "Smtp" : "Apikeys"}${rest}`

  const credentialView = (expected: () => unknown) => ({ of: viewOfCredentialJson, expected })

  const create = (kind: Kind) => (): Call => {
    const asker = askerFor(managing)
    const { target: _, ...payload } = someCredential(kind, asker.caller)
    const { made, of, status }: ReturnType<typeof createCredential> =
      asker.caller === undefined ? { status: 401 } : createCredential(kind, asker.caller, accounts, payload)
    return {
      operation: operationOf(kind, "Post"),
      asker,
      sent: sentTo("POST", pathOf(kind), jsonBody(payload)),
      status,
      ...(made === undefined || of === undefined
        ? {}
        : {
            apply: (json) => addCredential(kind, of, credentialOfJson(json, String(Object(json).Token))),
            view: credentialView(() => viewOfCredential({ ...made, token: "" }))
          })
    }
  }

  /** The name of a credential that is there, mostly, or the administrator's. */
  const someName = (kind: Kind, target: Account, caller: Caller | undefined): string => {
    const known = [...target[kind].values()].map(({ name }) => name).filter((name) => name !== keeper)
    const name =
      known.length > 0 && chance(0.8) ? pick(known) : pick(namesOf(kind, chance(0.1) ? pick(accounts) : target))
    return name === "administrator" && caller?.key.name === name ? pick(namesOf(kind, target)) : name
  }

  const update = (kind: Kind) => (): Call => {
    const asker = askerFor(managing)
    const { caller } = asker
    const { target, ...payload } = someCredential(kind, caller)
    const name = someName(kind, target, caller)
    const next = chance(0.7) ? { ...payload, Name: name } : payload
    const { changed, of, status }: ReturnType<typeof updateCredential> =
      caller === undefined ? { status: 401 } : updateCredential(kind, caller, accounts, name, next)
    return {
      operation: operationOf(kind, "ByNamePut"),
      asker,
      sent: sentTo("PUT", pathOf(kind, name), jsonBody(next)),
      status,
      ...(changed === undefined || of === undefined
        ? {}
        : {
            apply: () => replaceCredential(kind, of, name, changed),
            view: credentialView(() => viewOfCredential(changed))
          })
    }
  }

  const remove = (kind: Kind) => (): Call => {
    const asker = askerFor(managing)
    const { caller } = asker
    const { subaccount, target } = targetOf(caller?.account ?? pick(accounts))
    const name = someName(kind, target, caller)
    const { of, status }: ReturnType<typeof deleteCredential> =
      caller === undefined ? { status: 401 } : deleteCredential(kind, caller, accounts, name, subaccount)
    return {
      operation: operationOf(kind, "ByNameDelete"),
      asker,
      sent: sentTo("DELETE", pathOf(kind, name, subaccount)),
      status,
      ...(of === undefined
        ? {}
        : {
            apply: () => {
              const token = findCredential(kind, of, name)?.token ?? ""
              if (token !== "" && kind === "apiKeys") dead.push(token)
              removeCredential(kind, of, name)
            }
          })
    }
  }

  const load = (kind: Kind) => (): Call => {
    const asker = askerFor("Security")
    const { caller } = asker
    const { subaccount, target } = targetOf(caller?.account ?? pick(accounts))
    const name = someName(kind, target, undefined)
    const found = caller && findCredential(kind, accountFor(caller, accounts, subaccount), name)
    return {
      operation: operationOf(kind, "ByNameGet"),
      asker,
      sent: sentTo("GET", pathOf(kind, name, subaccount)),
      status: found === undefined ? 404 : 200,
      ...(found === undefined ? {} : { view: credentialView(() => viewOfCredential(found)) })
    }
  }

  const list = (kind: Kind) => (): Call => {
    const asker = askerFor("Security")
    const { caller } = asker
    const { subaccount } = targetOf(caller?.account ?? pick(accounts))
    return {
      operation: operationOf(kind, "Get"),
      asker,
      sent: sentTo("GET", pathOf(kind, undefined, subaccount)),
      status: 200,
      view: {
        of: (json) => [json].flat().map(viewOfCredentialJson),
        expected: () =>
          [...((caller && accountFor(caller, accounts, subaccount)?.[kind].values()) ?? [])].map(viewOfCredential)
      }
    }
  }

  const calls: ReadonlyArray<readonly [number, () => Call]> = [
    [10, getContact],
    [8, putContact],
    [7, deleteContact],
    [12, postContacts],
    [6, listContacts],
    [3, deleteMany],
    [0.6, exportContacts],
    [2, exportStatus],
    [0.6, importContacts],
    [2, send],
    [6, create("apiKeys")],
    [5, update("apiKeys")],
    [4, remove("apiKeys")],
    [3, load("apiKeys")],
    [2, list("apiKeys")],
    [3, create("smtp")],
    [3, update("smtp")],
    [3, remove("smtp")],
    [2, load("smtp")],
    [2, list("smtp")]
  ]

  return { next: () => made(dice.weighted(calls)()), right }
}
