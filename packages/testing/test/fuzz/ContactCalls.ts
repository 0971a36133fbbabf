/** Calls on contacts, their exports and imports, and mails, whose answer the model knows. */
import { type Asker, type Askers, type Call, emailsOf, listNamesOf, sentTo, type World } from "./Askers.ts"
import type { Dice } from "./Dice.ts"
import { Rule } from "@roster/domain"
import { formOf, jsonBody } from "./GeneratedRequests.ts"
import { type Account, identityOf, type Person, upsert, viewOfJson, viewOfPerson, viewOfSent } from "./Model.ts"

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
  const { accountOf, askerFor, spelled } = askers

  const someEmail = (account: Account) => {
    // Now and then one of another account, which is nobody here.
    const from = chance(0.2) ? pick(accounts) : account
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
    const account = accountOf(asker)
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
    const account = accountOf(asker)
    const email = someEmail(account)
    const { CustomFields = {}, FirstName = null } = somePayload(account)
    const isKnown = account.people.has(email)
    const path = spelled(email)
    const isFull = (account.people.get(email)?.fields.size ?? 0) > manyFields
    const change = {
      FirstName,
      ...(isFull ? {} : { CustomFields }),
      ...(chance(0.5) ? { LastName: account.mark } : {})
    }
    return {
      operation: "contactsByEmailPut",
      asker,
      sent: sentTo("PUT", `/contacts/${encoded(path)}`, jsonBody(change)),
      status: isKnown ? 200 : 404,
      ...(isKnown
        ? {
            apply: () => upsert(account, [{ ...change, Email: email }], ""),
            view: {
              of: viewOfJson,
              expected: () => shownTo(asker, personOf(account, email), { ...change, Email: path })
            }
          }
        : {})
    }
  }

  const shownTo = ({ caller }: Asker, person: Person, sent: Readonly<Record<string, unknown>>) =>
    caller?.key.levels.includes("ViewContacts") === true ? viewOfPerson(person) : viewOfSent(person, sent)

  const personOf = (account: Account, email: string): Person => {
    const found = account.people.get(identityOf(email))
    if (found === undefined) throw new Error("the model has no such contact")
    return found
  }

  const deleteContact = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
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
              expected: () => contacts.map((sent) => shownTo(asker, personOf(account, String(sent["Email"])), sent))
            }
          })
    }
  }

  const listContacts = (): Call => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
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

  const countContacts = (): Call => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const rule = chance(0.7) ? someRule() : undefined
    return {
      operation: "contactsCountGet",
      asker,
      sent: sentTo("GET", `/contacts/count${rule === undefined ? "" : `?rule=${encoded(rule.text)}`}`),
      status: 200,
      view: {
        of: (json) => json,
        expected: () => ({ Count: people(account).filter(rule?.holds ?? (() => true)).length })
      }
    }
  }

  const fieldsInUse = (): Call => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const rule = chance(0.5) ? someRule() : undefined
    const counts = (names: ReadonlyArray<string>) => {
      const folded = Map.groupBy(names, Rule.foldText)
      return Object.fromEntries([...folded].map(([name, same]) => [name, same.length]))
    }
    return {
      operation: "contactsFieldsGet",
      asker,
      sent: sentTo("GET", `/contacts/fields${rule === undefined ? "" : `?rule=${encoded(rule.text)}`}`),
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
    }
  }

  const lookUp = (): Call => {
    const asker = askerFor("ViewContacts")
    const account = accountOf(asker)
    const emails = Array.from({ length: below(6) }, () => someEmail(account))
    return {
      operation: "contactsLookupPost",
      asker,
      sent: sentTo("POST", "/contacts/lookup", jsonBody({ Emails: emails.map(spelled) })),
      status: 200,
      view: {
        of: (json) => [json].flat().map(viewOfJson),
        expected: () =>
          [...new Set(emails)].flatMap((email) => {
            const person = account.people.get(email)
            return person === undefined ? [] : [viewOfPerson(person)]
          })
      }
    }
  }

  const deleteMany = (): Call => {
    const asker = askerFor("ModifyContacts")
    const account = accountOf(asker)
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
    const account = accountOf(asker)
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
    const account = accountOf(asker)
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
    const account = accountOf(asker)
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

  return {
    getContact,
    putContact,
    deleteContact,
    postContacts,
    listContacts,
    countContacts,
    fieldsInUse,
    lookUp,
    deleteMany,
    exportContacts,
    exportStatus,
    importContacts,
    send
  }
}
