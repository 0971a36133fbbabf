/** The contacts on a list. */
import {
  type ContactRule,
  ListsService,
  makeRuleCount,
  mayLeaveUnplaced,
  Pagination,
  parseRule,
  ruleMatcher,
  ruleSource
} from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { noteUnplaced, sayUnplaced } from "../shared/RuleFlags.ts"

const everyoneOn = (name: string, offset?: number) =>
  Effect.map(ListsService, (lists) => Pagination.streamPages((page) => lists.contacts(name, page), offset))

export const contactsOn = Effect.fnUntraced(function* (
  name: string,
  { offset = 0, rule }: { readonly offset: number | undefined; readonly rule: ContactRule | undefined }
) {
  if (rule === undefined) return yield* everyoneOn(name, offset)
  const matches = ruleMatcher(yield* Effect.fromResult(parseRule(ruleSource(rule))), yield* DateTime.now)
  return (yield* everyoneOn(name)).pipe(Stream.filter(matches), Stream.drop(offset))
})

/** Says which contacts a rule leaves out since it cannot compare a value of theirs: of those on a list, or of all. */
export const noteUnplacedOn = Effect.fnUntraced(function* (name: string | undefined, rule: ContactRule | undefined) {
  if (name === undefined || rule === undefined) return yield* noteUnplaced(rule)
  const parsed = yield* Effect.fromResult(parseRule(ruleSource(rule)))
  if (!mayLeaveUnplaced(parsed)) return
  const { add, result } = makeRuleCount(parsed, yield* DateTime.now)
  yield* Stream.runForEach(yield* everyoneOn(name), (contact) => Effect.sync(() => add(contact)))
  yield* sayUnplaced(result().unplaced)
})
