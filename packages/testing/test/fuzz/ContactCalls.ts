/** Calls on contacts, their exports and imports, and mails, whose answer the model knows. */
import { type Asker, type Askers, type Drawn, drawn, listNamesOf, mayView, sentTo, type World } from "./Askers.ts"
import type { Dice } from "./Dice.ts"
import { type ContactOrder, contactOrders, Rule } from "@roster/domain"
import { formOf, jsonBody, type Sent } from "./GeneratedRequests.ts"
import {
  type Account,
  identityOf,
  keepOnly,
  type Person,
  place,
  type Run,
  takesWrites,
  upsert,
  viewOfJson,
  viewOfPerson,
  viewOfSent
} from "./Model.ts"

const statuses = ["Transactional", "Engaged", "Active", "Bounced", "Unsubscribed", "Stale", "NotConfirmed"]
const zones = ["north", "South", "EAST", ""]

/** The name of a custom field that only these calls give. */
const zone = "Zone"

/** A contact with more custom fields gets no further ones here, since the bounds of contacts have tests of their own. */
const manyFields = 90

const nobody = "00000000-0000-4000-8000-000000000000"

const encoded = encodeURIComponent

interface ModelRule {
  readonly text: string
  readonly holds: (person: Person) => boolean
}
export const makeContactCalls = ({ accounts, payloads }: World, dice: Dice, askers: Askers) => {
  const { below, chance, pick, some } = dice
  const { accountOf, addressOf, askerFor, isMeeting, spelled } = askers

  const someEmail = (account: Account) => {
    // Now and then one of another account, which is nobody here.
    const from = chance(0.2) ? pick(accounts) : account
    return addressOf(from)
  }

  const somePayload = (account: Account): Readonly<Record<string, unknown>> => {
    const Email = addressOf(account)
    const person = account.people.get(Email)
    if (person !== undefined && person.fields.size > manyFields)
      return { Email: spelled(Email), FirstName: account.mark }
    const given = pick(payloads)
    const fields: unknown = given["CustomFields"]
    return {
      ...given,
      Email: spelled(Email),
      ...(chance(0.5) ? { FirstName: `${account.mark} ${String(given["FirstName"] ?? "")}` } : {}),
      ...(chance(0.3) ? { CustomFields: { ...Object(fields), [zone]: pick(zones) } } : {})
    }
  }

  const rules: ReadonlyArray<(account: Account) => ModelRule> = [
    (account) => {
      const list = pick(listNamesOf(account))
      const isOn = ({ email }: Person) => account.lists.get(list)?.has(identityOf(email)) === true
      return chance(0.5)
        ? { text: `on-list '${list}'`, holds: isOn }
        : { text: `not-on-list '${list}'`, holds: (person) => !isOn(person) }
    },
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

  const someRule = (account: Account, either = 2): ModelRule => {
    const one = pick(rules)(account)
    const other = pick(rules)(account)
    return dice.weighted<ModelRule>([
      [4, one],
      [2, { text: `${one.text} AND (${other.text})`, holds: (person) => one.holds(person) && other.holds(person) }],
      [either, { text: `(${one.text} OR ${other.text})`, holds: (person) => one.holds(person) || other.holds(person) }]
    ])
  }

  /** Two rules of which one holds may select every contact, which a deletion refuses. */
  const narrowRule = (account: Account) => someRule(account, 0)

  const people = ({ people }: Account) => [...people.values()]

  /** A run that a write names: mostly none, and one that takes the writes of the key unless a refusal is wanted. */
  const runOf = ({ caller }: Asker, mayBeRefused = false): Run | undefined => {
    if (caller === undefined || isMeeting() || chance(0.7)) return undefined
    const runs = caller.account.runs.filter((run) => mayBeRefused || takesWrites(run, caller.key))
    return runs.length === 0 ? undefined : pick(runs)
  }

  const naming = (run: Run | undefined, sent: Sent): Sent =>
    run === undefined ? sent : { ...sent, headers: { ...sent.headers, "Roster-Run": run.id } }

  /** Does something to the contacts of an account, and counts in a run how many came and went. */
  const counted = (account: Account, run: Run | undefined, change: () => void): void => {
    const before = account.people
    account.people = new Map(before)
    change()
    if (run === undefined) return
    run.created += [...account.people.keys()].filter((email) => !before.has(email)).length
    run.deleted += [...before.keys()].filter((email) => !account.people.has(email)).length
  }

  const getContact = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const email = someEmail(account)
    const sent = sentTo("GET", `/contacts/${encoded(spelled(email))}`)
    return drawn({ operation: "contactsByEmailGet", asker, sent }, () => {
      const person = account.people.get(email)
      return person === undefined
        ? { status: 404 }
        : { status: 200, view: { of: viewOfJson, expected: () => viewOfPerson(person) } }
    })
  }

  const putContact = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
    const email = someEmail(account)
    const { CustomFields = {}, FirstName = null } = somePayload(account)
    const path = spelled(email)
    const isFull = (account.people.get(email)?.fields.size ?? 0) > manyFields
    const change = {
      FirstName,
      ...(isFull ? {} : { CustomFields }),
      ...(chance(0.5) ? { LastName: account.mark } : {})
    }
    const sent = naming(runOf(asker), sentTo("PUT", `/contacts/${encoded(path)}`, jsonBody(change)))
    return drawn({ operation: "contactsByEmailPut", asker, sent }, () =>
      account.people.has(email)
        ? {
            status: 200,
            apply: () => upsert(account, [{ ...change, Email: email }], ""),
            view: {
              of: viewOfJson,
              expected: () => shownTo(asker, personOf(account, email), { ...change, Email: path })
            }
          }
        : { status: 404 }
    )
  }

  const shownTo = (asker: Asker, person: Person, sent: Readonly<Record<string, unknown>>) =>
    mayView(asker) ? viewOfPerson(person) : viewOfSent(person, sent)

  const personOf = (account: Account, email: string): Person => {
    const found = account.people.get(identityOf(email))
    if (found === undefined) throw new Error("the model has no such contact")
    return found
  }

  const deleteContact = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
    const email = someEmail(account)
    const run = runOf(asker)
    const sent = naming(run, sentTo("DELETE", `/contacts/${encoded(spelled(email))}`))
    return drawn({ operation: "contactsByEmailDelete", asker, sent }, () => ({
      status: account.people.has(email) ? 200 : 404,
      apply: () => counted(account, run, () => keepOnly(account, (person) => identityOf(person.email) !== email))
    }))
  }

  const postContacts = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
    const count = dice.weighted([
      [60, 1 + below(4)],
      [10, 40],
      [1, 0],
      [0.3, 1001]
    ])
    const contacts = Array.from({ length: count }, () => somePayload(account))
    const lists = some(listNamesOf(account), 0.15)
    const query = lists.length === 0 ? "" : `?${lists.map((name) => `listnames=${encoded(name)}`).join("&")}`
    const run = runOf(asker, true)
    const sent = naming(run, sentTo("POST", `/contacts${query}`, jsonBody(contacts)))
    const isRefused = () => run !== undefined && asker.caller !== undefined && !takesWrites(run, asker.caller.key)
    // Repeated by another key, it would name a run of this one.
    return drawn({ operation: "contactsPost", asker, sent, isKeyed: run === undefined }, () =>
      count > 1000 || isRefused()
        ? { status: 400 }
        : {
            status: 200,
            apply: () => {
              counted(account, run, () => upsert(account, contacts, "ContactApi"))
              const emails = contacts.map(({ Email }) => String(Email))
              for (const name of lists) place(account, name, emails, true)
            },
            view: {
              of: (json) => [json].flat().map(viewOfJson),
              expected: () => contacts.map((sent) => shownTo(asker, personOf(account, String(sent["Email"])), sent))
            }
          }
    )
  }

  const byAddress = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

  /** The people in an order, behind an address. */
  const peopleBehind = (account: Account, sort: ContactOrder = "added", after?: string) => {
    const isByAddress = sort.endsWith("email")
    const sorted = isByAddress
      ? people(account).sort((a, b) => byAddress(identityOf(a.email), identityOf(b.email)))
      : people(account)
    const inOrder = sort.startsWith("-") ? sorted.toReversed() : sorted
    const direction = sort.startsWith("-") ? -1 : 1
    return after === undefined
      ? inOrder
      : inOrder.filter(({ email }) => byAddress(identityOf(email), identityOf(after)) * direction > 0)
  }

  const listContacts = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const rule = chance(0.4) ? someRule(account) : undefined
    const [limit, offset] = [pick([undefined, 0, 1, 7, 1000, 1001]), pick([undefined, 0, 3, 100_000])]
    const isSearch = rule !== undefined && chance(0.3)
    const sort = chance(0.4) ? pick(contactOrders) : undefined
    const after = sort?.endsWith("email") === true && chance(0.5) ? addressOf(account) : undefined
    const isFar = offset === 100_000 && sort !== undefined && sort !== "added"
    const parameters = [
      ...(limit === undefined ? [] : [`limit=${limit}`]),
      ...(offset === undefined ? [] : [`offset=${offset}`]),
      ...(sort === undefined ? [] : [`sort=${sort}`]),
      ...(after === undefined ? [] : [`afterContact=${encoded(spelled(after))}`]),
      ...(rule === undefined || isSearch ? [] : [`rule=${encoded(rule.text)}`])
    ]
    const from = offset ?? 0
    const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`
    const sent = isSearch
      ? sentTo("POST", `/contacts/search${query}`, jsonBody({ Rule: rule.text }))
      : sentTo("GET", `/contacts${query}`)
    return drawn({ operation: isSearch ? "contactsSearchPost" : "contactsGet", asker, sent }, () =>
      limit === 1001 || isFar
        ? { status: 400 }
        : {
            status: 200,
            view: {
              of: (json) => [json].flat().map(viewOfJson),
              expected: () =>
                peopleBehind(account, sort, after)
                  .filter(rule?.holds ?? (() => true))
                  .slice(from, from + (limit ?? 20))
                  .map(viewOfPerson)
            }
          }
    )
  }

  const countContacts = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const rule = chance(0.7) ? someRule(account) : undefined
    const sent = sentTo("GET", `/contacts/count${rule === undefined ? "" : `?rule=${encoded(rule.text)}`}`)
    return drawn({ operation: "contactsCountGet", asker, sent }, () => ({
      status: 200,
      view: {
        of: (json) => json,
        expected: () => ({ Count: people(account).filter(rule?.holds ?? (() => true)).length })
      }
    }))
  }

  const fieldsInUse = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const rule = chance(0.5) ? someRule(account) : undefined
    const counts = (names: ReadonlyArray<string>) => {
      const folded = Map.groupBy(names, Rule.foldText)
      return Object.fromEntries([...folded].map(([name, same]) => [name, same.length]))
    }
    const sent = sentTo("GET", `/contacts/fields${rule === undefined ? "" : `?rule=${encoded(rule.text)}`}`)
    return drawn({ operation: "contactsFieldsGet", asker, sent }, () => ({
      status: 200,
      view: {
        of: (json) => {
          const { Contacts, Fields } = Object(json)
          const names = [Fields]
            .flat()
            .flatMap(({ Contacts, IsCustom, Name }) => (IsCustom ? Array(Contacts).fill(Name) : []))
          return { Contacts, custom: counts(names) }
        },
        expected: () => {
          const some = people(account).filter(rule?.holds ?? (() => true))
          return { Contacts: some.length, custom: counts(some.flatMap(({ fields }) => [...fields.keys()])) }
        }
      }
    }))
  }

  const lookUp = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const emails = Array.from({ length: below(6) }, () => someEmail(account))
    const sent = sentTo("POST", "/contacts/lookup", jsonBody({ Emails: emails.map(spelled) }))
    return drawn({ operation: "contactsLookupPost", asker, sent }, () => ({
      status: 200,
      view: {
        of: (json) => [json].flat().map(viewOfJson),
        expected: () =>
          [...new Set(emails)].flatMap((email) => {
            const person = account.people.get(email)
            return person === undefined ? [] : [viewOfPerson(person)]
          })
      }
    }))
  }

  const deleted = (asker: Asker, body: object, isMeant: (person: Person) => boolean, mayDelete = true): Drawn => {
    const account = accountOf(asker)
    const run = runOf(asker)
    const sent = naming(run, sentTo("POST", "/contacts/delete", jsonBody(body)))
    const apply = () => counted(account, run, () => keepOnly(account, (person) => !isMeant(person)))
    return drawn({ operation: "contactsDeletePost", asker, sent, isKeyed: run === undefined }, () =>
      mayDelete ? { status: 200, apply } : { status: 403 }
    )
  }

  const deleteAddresses = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const emails = Array.from({ length: 1 + below(5) }, () => spelled(someEmail(accountOf(asker))))
    return deleted(asker, { Emails: emails }, ({ email }) =>
      emails.some((one) => identityOf(one) === identityOf(email))
    )
  }

  const deleteByRule = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    if (chance(0.02)) return deleted(asker, { Rule: "All" }, () => true)
    const rule = narrowRule(accountOf(asker))
    // Who is gone afterwards tells what the contacts hold.
    return deleted(asker, { Rule: rule.text }, rule.holds, mayView(asker))
  }

  const exportContacts = (): Drawn => {
    const asker = askerFor("Export")
    const account = accountOf(asker)
    const rule = someRule(account)
    const emails = Array.from({ length: 1 + below(4) }, () => someEmail(account))
    const [query, isMeant] = dice.weighted<readonly [string, (person: Person) => boolean]>([
      [2, ["", () => true]],
      [1, [`&rule=${encoded(rule.text)}`, rule.holds]],
      [1, [`&emails=${emails.map(encoded).join(",")}`, ({ email }) => emails.includes(identityOf(email))]]
    ])
    const sent = sentTo("POST", `/contacts/export?fileFormat=Json${query}`)
    return drawn({ operation: "contactsExportPost", asker, sent, isKeyed: true }, () => ({
      status: 202,
      starts: "export",
      apply: (json) => account.exports.push(String(Object(json).PublicExportID)),
      // Of the file, which the runner downloads.
      view: {
        of: (json) => [json].flat().map(viewOfJson),
        expected: () => people(account).filter(isMeant).map(viewOfPerson)
      }
    }))
  }

  const exportStatus = (): Drawn => {
    const asker = askerFor("Export")
    const account = accountOf(asker)
    const from = chance(0.2) ? pick(accounts) : account
    const id = from.exports.length === 0 || chance(0.1) ? nobody : pick(from.exports.slice(-30))
    const sent = sentTo("GET", `/contacts/export/${id}/status`)
    return drawn({ operation: "contactsExportByIdStatusGet", asker, sent }, () =>
      account.exports.includes(id)
        ? { status: 200, view: { of: (json) => json, expected: () => "Ready" } }
        : { status: 404 }
    )
  }

  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`

  const importContacts = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
    const rows = Array.from({ length: 1 + below(6) }, () => {
      const FirstName = pick(["", "Ann", 'a"b,c', `${account.mark}\nsecond line`])
      const Status = pick(["", ...statuses])
      return { Email: spelled(addressOf(account)), FirstName, Status, CustomFields: { [zone]: pick(zones) } }
    })
    const file = [
      `Email,FirstName,Status,${zone}`,
      ...rows.map((row) => [row.Email, row.FirstName, row.Status, row.CustomFields[zone] ?? ""].map(cell).join(","))
    ].join("\r\n")
    const list = chance(0.3) ? pick(listNamesOf(account)) : undefined
    const isMissing = list !== undefined && !account.lists.has(list)
    // An empty cell leaves the field as it is.
    const given = (row: object): object => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ""))
    const sent = sentTo(
      "POST",
      `/contacts/import${list === undefined ? "" : `?listName=${encoded(list)}`}`,
      formOf([['name="file"; filename="people.csv"', file]])
    )
    const contacts = rows.map((row) => ({ ...given(row), CustomFields: given(row.CustomFields) }))
    return drawn({ operation: "contactsImportPost", asker, sent }, () =>
      isMissing
        ? { status: 400 }
        : {
            status: 202,
            starts: "import",
            apply: () => {
              upsert(account, contacts, "FileUpload")
              if (list !== undefined)
                place(
                  account,
                  list,
                  Array.from(rows, ({ Email }) => Email),
                  true
                )
            }
          }
    )
  }

  const send = (): Drawn => {
    const asker = askerFor("SendHttp")
    const isAllowed = chance(0.7)
    const From = isAllowed ? "Ann <ann@example.com>" : "ann@elsewhere.test"
    const message = { Recipients: [{ Email: "somebody@elsewhere.test" }], Content: { From, Subject: "Hello" } }
    const sent = sentTo("POST", "/emails", jsonBody(message))
    return drawn({ operation: "emailsPost", asker, sent, isKeyed: isAllowed }, () =>
      isAllowed
        ? { status: 200, apply: (json) => accountOf(asker).ids.emails.push(String(Object(json).MessageID)) }
        : { status: 400 }
    )
  }

  const contactsOn = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const list = pick(listNamesOf(account))
    const sent = sentTo("GET", `/lists/${encoded(list)}/contacts?limit=1000`)
    return drawn({ operation: "listsByListnameContactsGet", asker, sent }, () => {
      const members = account.lists.get(list)
      return members === undefined
        ? { status: 404 }
        : {
            status: 200,
            view: {
              of: (json) => [json].flat().map(viewOfJson),
              expected: () =>
                people(account)
                  .filter(({ email }) => members.has(identityOf(email)))
                  .map(viewOfPerson)
            }
          }
    })
  }

  /** Puts contacts on a list or takes them off, by addresses or by a rule. */
  const placeOn = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
    const list = pick(listNamesOf(account))
    const isOn = chance(0.6)
    const emails = Array.from({ length: 1 + below(8) }, () => someEmail(account))
    const rule = mayView(asker) && !isMeeting() && chance(0.3) ? someRule(account) : undefined
    const body = rule === undefined ? { Emails: emails.map(spelled) } : { Rule: rule.text }
    const path = `/lists/${encoded(list)}/contacts${isOn ? "" : "/remove"}`
    const operation = isOn ? "listsByNameContactsPost" : "listsByNameContactsRemovePost"
    const sent = naming(runOf(asker), sentTo("POST", path, jsonBody(body)))
    return drawn({ operation, asker, sent }, () =>
      account.lists.has(list)
        ? {
            status: 200,
            apply: () => {
              const those =
                rule === undefined
                  ? emails
                  : people(account)
                      .filter(rule.holds)
                      .map(({ email }) => email)
              place(account, list, those, isOn)
            }
          }
        : { status: 404 }
    )
  }

  const beginRun = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
    const sent = sentTo("POST", "/runs", jsonBody({ Command: "fuzz" }))
    return drawn({ operation: "runsPost", asker, sent }, () => ({
      status: 200,
      apply: (json) => {
        const by = asker.caller?.key
        const id = String(Object(json).Id)
        if (by !== undefined)
          account.runs = [...account.runs, { id, by, isEnded: false, created: 0, deleted: 0 }].slice(-20)
      }
    }))
  }

  const endRun = (): Drawn => {
    const asker = askerFor("ModifyContacts")
    const run = asker.caller?.account.runs.findLast((run) => asker.caller && takesWrites(run, asker.caller.key))
    if (run === undefined) return beginRun()
    return drawn({ operation: "runsByIdEndPost", asker, sent: sentTo("POST", `/runs/${run.id}/end`) }, () => ({
      status: 200,
      apply: () => {
        run.isEnded = true
      }
    }))
  }

  /** A run with what it counted, which is what the calls that named it did. */
  const getRun = (): Drawn => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    // Now and then one of another account, which is none here.
    const run = pick([...(chance(0.2) ? pick(accounts) : account).runs, { id: nobody }])
    const sent = sentTo("GET", `/runs/${run.id}`)
    return drawn({ operation: "runsByIdGet", asker, sent }, () => {
      const found = account.runs.find(({ id }) => id === run.id)
      return found === undefined
        ? { status: 404 }
        : {
            status: 200,
            view: {
              of: (json) => [Object(json).Created, Object(json).Deleted, Object(json).Ended !== null],
              expected: () => [found.created, found.deleted, found.isEnded]
            }
          }
    })
  }

  return {
    contactsOn,
    placeOn,
    beginRun,
    endRun,
    getRun,
    getContact,
    putContact,
    deleteContact,
    postContacts,
    listContacts,
    countContacts,
    fieldsInUse,
    lookUp,
    deleteAddresses,
    deleteByRule,
    exportContacts,
    exportStatus,
    importContacts,
    send
  }
}
