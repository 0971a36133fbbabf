/** Who calls: keys that may call an operation, keys that may not, and none that any account has. */
import type { Dice } from "./Dice.ts"
import type { Sent } from "./GeneratedRequests.ts"
import { type Account, type Caller, type Credential, managing, mayCallFrom } from "./Model.ts"

/** A key in the header of a request, and what becomes of the request by it alone. */
export interface Asker {
  readonly token: string | undefined
  readonly peer: string
  readonly caller: Caller | undefined
  readonly refusal: 401 | 403 | undefined
}

/** Whether a key may see contacts, and so what a rule selects. */
export const mayView = ({ caller }: Asker): boolean => caller?.key.levels.includes("ViewContacts") === true

export interface Call extends Asked, Judged {}

/** A request, whatever the service holds. */
export interface Asked {
  readonly operation: string
  readonly sent: Sent
  readonly asker: Asker
  /** May be sent again with the same Idempotency-Key. */
  readonly isKeyed?: boolean
}

/** What becomes of a request by what the model holds. */
export interface Judged {
  readonly status: number
  /** What the model shows of the answer, and what it has to be once the model did the same. */
  readonly view?: { readonly of: (json: unknown) => unknown; readonly expected: () => unknown }
  /** Does to the model what the call does. */
  readonly apply?: (json: unknown) => void
  readonly starts?: "import" | "export"
}

/** A request that was drawn, to be judged once or more often. */
export type Drawn = () => Call

export const drawn =
  (asked: Asked, judge: () => Judged): Drawn =>
  () =>
    // Nothing is left but the refusal if the key may not make it.
    ({ ...asked, ...(asked.asker.refusal === undefined ? judge() : { status: asked.asker.refusal }) })

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

/** The ranges that keys are given. */
export const ranges = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.0.2.0/24"]
const peers = ["10.1.2.3", "10.9.9.9", "192.0.2.44", "198.51.100.7"]

const addresses = 60

const empty = { headers: {}, body: Buffer.alloc(0) }

export const emailsOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: addresses }, (_, index) => `p${index}.${mark}@example.com`)

export const keyNamesOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: 18 }, (_, index) => `key ${index} of ${mark}`)

export const smtpNamesOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: 18 }, (_, index) => `login${index}.${mark}@example.com`)

export const listNamesOf = ({ mark }: Account): ReadonlyArray<string> =>
  Array.from({ length: 4 }, (_, index) => `list ${index} of ${mark}`)

/** A request without a body, or with one. */
export const sentTo = (method: string, path: string, content: Pick<Sent, "headers" | "body"> = empty): Sent => ({
  method,
  path,
  ...content
})

export const makeAskers = ({ accounts, dead }: World, dice: Dice) => {
  const { below, chance, pick } = dice
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
    const key = pick(keysOf(account).filter(({ levels }) => level === "None" || levels.includes(level)))
    const peer = peerOf(key) ?? pick(peers)
    return { token: key.token, peer, caller: { account, key, peer }, refusal: mayCallFrom(key, peer) ? undefined : 403 }
  }

  /** The account and the addresses that calls at once are about, so that they meet. */
  let meeting: { readonly account: Account; readonly emails: ReadonlyArray<string> } | undefined

  /** Draws calls about one account and few addresses. */
  const meetingOn = <A>(draw: () => A): A => {
    const account = pick(accounts)
    const from = below(addresses - 2)
    meeting = { account, emails: emailsOf(account).slice(from, from + 3) }
    const drawn = draw()
    meeting = undefined
    return drawn
  }

  const isMeeting = (): boolean => meeting !== undefined

  const addressOf = (account: Account): string =>
    pick(meeting?.account === account ? meeting.emails : emailsOf(account))

  const askerFor = (level: string, account: Account = meeting?.account ?? pick(accounts)): Asker => {
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

  /** In some other case, which is the same address. */
  const spelled = (email: string) => (chance(0.1) ? email.toUpperCase() : email)

  /** The account of a key that may call, or any. */
  const accountOf = ({ caller }: Asker): Account => caller?.account ?? pick(accounts)

  return { right, askerFor, accountOf, addressOf, isMeeting, meetingOn, spelled }
}

export type Askers = ReturnType<typeof makeAskers>
