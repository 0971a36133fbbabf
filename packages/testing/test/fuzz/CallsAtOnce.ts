/** Calls that were made at once: some order of them explains each answer, and what the service holds then. */
import { isDeepStrictEqual } from "node:util"
import type { Drawn } from "./Askers.ts"
import type { Answer } from "./Asking.ts"
import {
  type Account,
  countsOf,
  identityOf,
  type ListCounts,
  viewOfCredential,
  viewOfCredentialJson,
  viewOfJson,
  viewOfPerson
} from "./Model.ts"

/** A call and its answer. */
export interface AnsweredCall {
  readonly draw: Drawn
  readonly answer: Answer
  readonly json: unknown
}

/** What the service holds for an account, as it lists it. */
export interface Held {
  readonly account: Account
  readonly contacts: ReadonlyArray<unknown>
  readonly logins: ReadonlyArray<unknown>
  readonly lists: ListCounts
}

const ordersOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.length === 0 ? [[]] : all.flatMap((one, index) => ordersOf(all.toSpliced(index, 1)).map((rest) => [one, ...rest]))

/** Whether a call was put off by the service, so that nothing of it is done. */
const isPutOff = ({ status }: Answer): boolean => status === 429 || status === 503

/** Does to the model what a call does, and says whether its answer tells so. */
const isAnswered = ({ answer, draw, json }: AnsweredCall): boolean => {
  if (isPutOff(answer)) return true
  const { apply, status, view } = draw()
  if (status !== answer.status) return false
  if (status < 300) apply?.(json)
  return view === undefined || isDeepStrictEqual(view.of(json), view.expected())
}

const byText = (views: Iterable<unknown>): ReadonlyArray<string> =>
  Array.from(views, (view) => JSON.stringify(view)).sort()

/** Whether the model holds the same. Contacts that were added at once are in any order. */
const isHeld = ({ account, contacts, lists, logins }: Held): boolean =>
  isDeepStrictEqual(lists, countsOf(account.lists)) &&
  isDeepStrictEqual(byText(contacts.map(viewOfJson)), byText(Array.from(account.people.values(), viewOfPerson))) &&
  isDeepStrictEqual(
    byText(logins.map(viewOfCredentialJson)),
    byText(Array.from(account.smtp.values(), viewOfCredential))
  )

/** The same entries in the order of a list. */
const inOrderOf = <A>(entries: ReadonlyMap<string, A>, names: ReadonlyArray<unknown>): Map<string, A> => {
  const places = new Map(names.map((name, place) => [identityOf(String(name)), place]))
  return new Map([...entries].sort(([one], [other]) => (places.get(one) ?? 0) - (places.get(other) ?? 0)))
}

/** Lets the model do the calls in an order that explains them, and says whether there is one. */
export const explain = (
  accounts: ReadonlyArray<Account>,
  calls: ReadonlyArray<AnsweredCall>,
  held: ReadonlyArray<Held>
): boolean => {
  const before = accounts.map(({ lists, people, smtp }) => ({ lists, people, smtp }))
  const begin = () =>
    accounts.forEach((account, index) => {
      account.people = new Map(before[index]?.people)
      account.smtp = new Map(before[index]?.smtp)
      account.lists = new Map(before[index]?.lists)
    })
  const isExplained = ordersOf(calls).some((order) => {
    begin()
    return order.every(isAnswered) && held.every(isHeld)
  })
  for (const { account, contacts, logins } of held) {
    account.people = inOrderOf(
      account.people,
      contacts.map((json) => viewOfJson(json).Email)
    )
    account.smtp = inOrderOf(
      account.smtp,
      logins.map((json) => viewOfCredentialJson(json).Name)
    )
  }
  return isExplained
}
