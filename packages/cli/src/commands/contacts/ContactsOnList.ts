/** The contacts on a list of the local store; a service does not show its lists. */
import { type ContactRule, makeRuleCount, mayLeaveUnplaced, parseRule, ruleMatcher, ruleSource } from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { settings } from "../../settings/Settings.ts"
import { noteUnplaced, sayUnplaced } from "../shared/RuleFlags.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"

/** All contacts on a list. */
const everyoneOn = Effect.fnUntraced(function* (name: string) {
  const on = yield* settings
  if (on._tag === "Remote") return yield* EmbeddedStore.refuseService
  const { ContactLists } = yield* EmbeddedStore.server
  return Effect.map(ContactLists.ContactLists, ({ contacts }) => contacts(name)).pipe(
    Stream.unwrap,
    Stream.provide(EmbeddedStore.listsOf(on.filename))
  )
})

export const contactsOn = Effect.fnUntraced(function* (
  name: string,
  { offset = 0, rule }: { readonly offset: number | undefined; readonly rule: ContactRule | undefined }
) {
  const all = yield* everyoneOn(name)
  if (rule === undefined) return Stream.drop(all, offset)
  const matches = ruleMatcher(yield* Effect.fromResult(parseRule(ruleSource(rule))), yield* DateTime.now)
  return all.pipe(Stream.filter(matches), Stream.drop(offset))
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
