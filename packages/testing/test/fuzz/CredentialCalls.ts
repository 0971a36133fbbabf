/** Calls on API keys and SMTP credentials, whose answer the model knows. */
import {
  type Askers,
  type Drawn,
  drawn,
  keeper,
  keyNamesOf,
  levels,
  ranges,
  sentTo,
  smtpNamesOf,
  type World
} from "./Askers.ts"
import type { Dice } from "./Dice.ts"
import { jsonBody } from "./GeneratedRequests.ts"
import {
  type Account,
  accountFor,
  addCredential,
  type Caller,
  createCredential,
  credentialOfJson,
  type CredentialPayload,
  deleteCredential,
  findCredential,
  type Kind,
  managing,
  removeCredential,
  replaceCredential,
  updateCredential,
  viewOfCredential,
  viewOfCredentialJson
} from "./Model.ts"

const expiries = ["2098-01-02T03:04:05Z", "2099-12-31T23:59:59Z"]

const encoded = encodeURIComponent

export const makeCredentialCalls = ({ accounts, dead }: World, dice: Dice, { askerFor, spelled }: Askers) => {
  const { chance, pick, some } = dice

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

  const create = (kind: Kind) => (): Drawn => {
    const asker = askerFor(managing)
    const { target: _, ...payload } = someCredential(kind, asker.caller)
    const sent = sentTo("POST", pathOf(kind), jsonBody(payload))
    return drawn({ operation: operationOf(kind, "Post"), asker, sent }, () => {
      const { made, of, status }: ReturnType<typeof createCredential> =
        asker.caller === undefined ? { status: 401 } : createCredential(kind, asker.caller, accounts, payload)
      return made === undefined || of === undefined
        ? { status }
        : {
            status,
            apply: (json) => addCredential(kind, of, credentialOfJson(json, String(Object(json).Token))),
            view: credentialView(() => viewOfCredential({ ...made, token: "" }))
          }
    })
  }

  /** The name of a credential that is there, mostly, or the administrator's. */
  const someName = (kind: Kind, target: Account, caller: Caller | undefined): string => {
    const known = [...target[kind].values()].map(({ name }) => name).filter((name) => name !== keeper)
    const name =
      known.length > 0 && chance(0.8) ? pick(known) : pick(namesOf(kind, chance(0.3) ? pick(accounts) : target))
    return name === "administrator" && caller?.key.name === name ? pick(namesOf(kind, target)) : name
  }

  const update = (kind: Kind) => (): Drawn => {
    const asker = askerFor(managing)
    const { caller } = asker
    const { target, ...payload } = someCredential(kind, caller)
    const name = someName(kind, target, caller)
    const next = chance(0.7) ? { ...payload, Name: name } : payload
    const sent = sentTo("PUT", pathOf(kind, name), jsonBody(next))
    return drawn({ operation: operationOf(kind, "ByNamePut"), asker, sent }, () => {
      const { changed, of, status }: ReturnType<typeof updateCredential> =
        caller === undefined ? { status: 401 } : updateCredential(kind, caller, accounts, name, next)
      return changed === undefined || of === undefined
        ? { status }
        : {
            status,
            apply: () => replaceCredential(kind, of, name, changed),
            view: credentialView(() => viewOfCredential(changed))
          }
    })
  }

  const remove = (kind: Kind) => (): Drawn => {
    const asker = askerFor(managing)
    const { caller } = asker
    const { subaccount, target } = targetOf(caller?.account ?? pick(accounts))
    const name = someName(kind, target, caller)
    const sent = sentTo("DELETE", pathOf(kind, name, subaccount))
    return drawn({ operation: operationOf(kind, "ByNameDelete"), asker, sent }, () => {
      const { of, status }: ReturnType<typeof deleteCredential> =
        caller === undefined ? { status: 401 } : deleteCredential(kind, caller, accounts, name, subaccount)
      return of === undefined
        ? { status }
        : {
            status,
            apply: () => {
              const token = findCredential(kind, of, name)?.token ?? ""
              if (token !== "" && kind === "apiKeys") dead.push(token)
              removeCredential(kind, of, name)
            }
          }
    })
  }

  const load = (kind: Kind) => (): Drawn => {
    const asker = askerFor("Security")
    const { caller } = asker
    const { subaccount, target } = targetOf(caller?.account ?? pick(accounts))
    const name = someName(kind, target, undefined)
    const sent = sentTo("GET", pathOf(kind, name, subaccount))
    return drawn({ operation: operationOf(kind, "ByNameGet"), asker, sent }, () => {
      const found = caller && findCredential(kind, accountFor(caller, accounts, subaccount), name)
      return found === undefined
        ? { status: 404 }
        : { status: 200, view: credentialView(() => viewOfCredential(found)) }
    })
  }

  const list = (kind: Kind) => (): Drawn => {
    const asker = askerFor("Security")
    const { caller } = asker
    const { subaccount } = targetOf(caller?.account ?? pick(accounts))
    const sent = sentTo("GET", pathOf(kind, undefined, subaccount))
    return drawn({ operation: operationOf(kind, "Get"), asker, sent }, () => ({
      status: 200,
      view: {
        of: (json) => [json].flat().map(viewOfCredentialJson),
        expected: () =>
          [...((caller && accountFor(caller, accounts, subaccount)?.[kind].values()) ?? [])].map(viewOfCredential)
      }
    }))
  }

  return { create, update, remove, load, list }
}
