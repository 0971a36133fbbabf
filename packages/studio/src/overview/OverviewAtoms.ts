/**
 * The numbers of the account, as the service counts them while one looks, and what else is told on one page: the newest runs, and the keys that
 * end soon. Each number has the rule of its people. (docs/decisions/overview.md)
 */
import {
  AccountService,
  type AccountSummary,
  type ApiKey,
  ContactStatus,
  CredentialsService,
  isMailedStatus,
  maximumOverviewAge,
  orWhereUntold,
  Rule,
  type ServiceError,
  type SmtpCredentials
} from "@roster/domain"
import { ContactColumns } from "@roster/domain/internal"
import { DateTime, Duration, Effect } from "effect"
import { Atom } from "effect/reactivity"
import { addressOf } from "../find/ContactsAddress.ts"
import { keysChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"
import { overviewTexts } from "../texts/OverviewTexts.ts"

/** The numbers once they are counted. */
const counted: Effect.Effect<AccountSummary, ServiceError, AccountService> = AccountService.use(
  ({ overview }) => overview
).pipe(
  Effect.flatMap(({ summary }) => (summary === null ? Effect.delay(counted, "1 second") : Effect.succeed(summary)))
)

/** The numbers, which are asked for again while one looks; `undefined` at a service that counts none. */
export const summary = Atom.withRefresh(
  runtime.atom(orWhereUntold(Effect.undefined)(counted)),
  Duration.seconds(maximumOverviewAge)
)

/** A number with its name, in the words of people or of the service, and the rule of its people. */
export interface Figure {
  readonly name: string
  readonly contacts: number
  /** The rule that selects them; empty for all. */
  readonly rule: string
}

/** The address of the people of a rule. */
export const peopleAt = (rule: string): string => `#${addressOf({ rule })}`

const statusRule = (status: string): string => `status = '${status}'`

/** A figure of the whole account. */
export interface AccountFigure extends Figure {
  readonly of: keyof typeof overviewTexts.figures
}

/** Everybody, and who gets mail and who does not. */
export const figuresOf = ({ contacts, statuses }: AccountSummary): ReadonlyArray<AccountFigure> => {
  const { all, mailed: reach, unmailed } = overviewTexts.figures
  const mailed = statuses.filter(({ status }) => isMailedStatus(status))
  const reached = mailed.reduce((sum, { contacts }) => sum + contacts, 0)
  return [
    { of: "all", name: all, contacts, rule: "" },
    { of: "mailed", name: reach, contacts: reached, rule: mailedStatuses.map(statusRule).join(" OR ") },
    {
      of: "unmailed",
      name: unmailed,
      contacts: contacts - reached,
      rule: mailedStatuses.map((status) => `status != '${status}'`).join(" AND ")
    }
  ]
}

const mailedStatuses = ContactStatus.literals.filter(isMailedStatus)

/** A status with its people. */
export interface StatusFigure extends Figure {
  readonly isMailed: boolean
}

/** The statuses, those with mail first, each from the most people on. */
export const statusesOf = ({ statuses }: AccountSummary): ReadonlyArray<StatusFigure> =>
  statuses
    .map(({ contacts, status }) => ({
      name: status,
      contacts,
      rule: statusRule(status),
      isMailed: isMailedStatus(status)
    }))
    .toSorted((a, b) => Number(b.isMailed) - Number(a.isMailed) || b.contacts - a.contacts)

/** The month after another, as `2026-11`. */
const monthAfter = (month: string): string => {
  const [year = 0, number = 1] = month.split("-").map(Number)
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7)
}

/** The most months that are drawn. */
export const shownMonths = 24

/** The months from the first contact on, and those in between too, each with who was added in it. */
export const monthsOf = ({ counted, months }: AccountSummary): ReadonlyArray<Figure> => {
  const counts = new Map(months.map(({ contacts, month }) => [month, contacts]))
  const last = [DateTime.formatIso(counted).slice(0, 7), months.at(-1)?.month ?? ""].toSorted().at(-1) ?? ""
  const all: Array<Figure> = []
  for (let month = months[0]?.month ?? last; month <= last; month = monthAfter(month)) {
    const rule = `dateadded >= '${month}-01' AND dateadded < '${monthAfter(month)}-01'`
    all.push({ name: month, contacts: counts.get(month) ?? 0, rule })
  }
  return all
}

/** The lists, the largest first. */
export const listsOf = ({ lists }: AccountSummary): ReadonlyArray<Figure> =>
  lists
    .map(({ contacts, listName }) => ({ name: listName, contacts, rule: Rule.print(Rule.onList(listName)) }))
    .toSorted((a, b) => b.contacts - a.contacts)

const cell = (text: string): string => `"${ContactColumns.protectCell(text).replaceAll('"', '""')}"`

/** All numbers as a file for spreadsheets. */
export const fileOf = (summary: AccountSummary): string => {
  const { addedIn, contacts, kind, list, name, status, total } = overviewTexts.file
  const rows = (of: string, figures: ReadonlyArray<Figure>): ReadonlyArray<ReadonlyArray<string>> =>
    figures.map(({ contacts, name }) => [of, name, String(contacts)])
  return [
    [kind, name, contacts],
    ...rows(total, figuresOf(summary)),
    ...rows(status, statusesOf(summary)),
    ...rows(addedIn, monthsOf(summary)),
    ...rows(list, listsOf(summary))
  ]
    .map((cells) => `${cells.map(cell).join(",")}\r\n`)
    .join("")
}

/** A key that ends soon, or has ended. */
export interface EndingKey {
  readonly name: string
  readonly ends: DateTime.Utc
  readonly hasEnded: boolean
}

/** How soon. */
export const soonDays = 30

/** The keys that end within a month, the next first. */
export const endingOf = (
  keys: ReadonlyArray<Pick<ApiKey | SmtpCredentials, "name" | "expires">>,
  now: DateTime.Utc
): ReadonlyArray<EndingKey> => {
  const until = DateTime.add(now, { days: soonDays })
  return keys
    .flatMap(({ expires, name }) =>
      expires == null || DateTime.isGreaterThan(expires, until)
        ? []
        : [{ name, ends: expires, hasEnded: DateTime.isLessThanOrEqualTo(expires, now) }]
    )
    .toSorted((a, b) => DateTime.toEpochMillis(a.ends) - DateTime.toEpochMillis(b.ends))
}

/** The keys that end soon. */
export const ending = Atom.withReactivity(keysChanged)(
  runtime.atom(
    Effect.gen(function* () {
      const { apiKeys, smtp } = yield* CredentialsService
      return endingOf([...(yield* apiKeys.list()), ...(yield* smtp.list())], yield* DateTime.now)
    })
  )
)
