/** The contacts on a list of the local store; a service does not show its lists. */
import { type ContactRule, parseRule, ruleMatcher, ruleSource } from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { settings } from "../../settings/Settings.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"

export const contactsOn = Effect.fnUntraced(function* (
  name: string,
  { offset = 0, rule }: { readonly offset: number | undefined; readonly rule: ContactRule | undefined }
) {
  const on = yield* settings
  if (on._tag === "Remote") return yield* EmbeddedStore.refuseService
  const { ContactLists } = yield* EmbeddedStore.server
  const all = Effect.map(ContactLists.ContactLists, ({ contacts }) => contacts(name)).pipe(
    Stream.unwrap,
    Stream.provide(EmbeddedStore.listsOf(on.filename))
  )
  if (rule === undefined) return Stream.drop(all, offset)
  const matches = ruleMatcher(yield* Effect.fromResult(parseRule(ruleSource(rule))), yield* DateTime.now)
  return all.pipe(Stream.filter(matches), Stream.drop(offset))
})
