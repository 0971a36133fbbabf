/** The contacts on a list. */
import {
  type Contact,
  ContactsService,
  type InvalidInput,
  type InvalidRule,
  type ListNotFound,
  ListsService,
  Pagination,
  parseRule,
  Rule,
  ruleMatcher,
  type ServiceError
} from "@roster/domain"
import { type ContactRule, makeRuleCount, mayLeaveUnplaced, ruleSource } from "@roster/domain/internal"
import { DateTime, Effect, Stream } from "effect"
import { noteUnplaced, sayUnplaced } from "../shared/RuleFlags.ts"

const everyoneOn = (name: string, offset?: number, lists?: boolean) =>
  Effect.map(ListsService, (service) =>
    Pagination.streamPages((page) => service.contacts(name, { ...page, lists }), offset)
  )

type OnList = Stream.Stream<Contact, ListNotFound | InvalidRule | InvalidInput | ServiceError>

/** The rule that selects the contacts of a rule on a list. */
const alsoOn = (rule: Rule.Rule, name: string): ContactRule =>
  Rule.print(rule._tag === "All" ? Rule.onList(name) : Rule.and([Rule.onList(name), rule]))

export const contactsOn = Effect.fnUntraced(function* (
  name: string,
  {
    lists,
    offset = 0,
    rule
  }: {
    readonly offset: number | undefined
    readonly rule: ContactRule | undefined
    /** Whether each contact has its lists. */
    readonly lists?: boolean
  }
) {
  if (rule === undefined) {
    const everyone: OnList = yield* everyoneOn(name, offset, lists)
    return everyone
  }
  const parsed = yield* Effect.fromResult(parseRule(ruleSource(rule)))
  if (Rule.namesLists(parsed)) {
    // Which other lists a contact is on only the service knows.
    const contacts = yield* ContactsService
    yield* ListsService.use((service) => service.get(name))
    const found: OnList = contacts.stream({ offset, rule: alsoOn(parsed, name), lists })
    return found
  }
  const matches = ruleMatcher(parsed, yield* DateTime.now)
  const found: OnList = (yield* everyoneOn(name, 0, lists)).pipe(Stream.filter(matches), Stream.drop(offset))
  return found
})

/** Says which contacts a rule leaves out since it cannot compare a value of theirs: of those on a list, or of all. */
export const noteUnplacedOn = Effect.fnUntraced(function* (name: string | undefined, rule: ContactRule | undefined) {
  if (name === undefined || rule === undefined) return yield* noteUnplaced(rule)
  const parsed = yield* Effect.fromResult(parseRule(ruleSource(rule)))
  if (!mayLeaveUnplaced(parsed)) return
  if (Rule.namesLists(parsed)) return yield* noteUnplaced(alsoOn(parsed, name))
  const { add, result } = makeRuleCount(parsed, yield* DateTime.now)
  yield* Stream.runForEach(yield* everyoneOn(name), (contact) => Effect.sync(() => add(contact)))
  yield* sayUnplaced(result().unplaced)
})
