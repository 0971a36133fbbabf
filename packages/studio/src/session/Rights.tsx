/** What the key may do, as requests that change nothing show it, and how controls stand that need more. */
import { type AccessLevel, ContactsService, CredentialsService, EmailAddress } from "@roster/domain"
import { randomId } from "@roster/domain/internal"
import { probeAccess } from "@roster/workflows"
import { Effect } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import type { ReactNode } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import { appTexts } from "../texts/AppTexts.ts"
import { runtime, session } from "./Session.ts"

const { deeds } = appTexts

/** The levels that the page needs. */
export type Needed = keyof typeof deeds & AccessLevel

/**
 * Whether the key may change contacts: a dry run needs the same level and changes nothing, and then the level to see them. `undefined`
 * where the service has no dry runs, so that it decides when it is asked.
 */
export const probeModify = ContactsService.use((contacts) =>
  contacts.change([{ email: EmailAddress.make("nobody@roster.invalid"), seen: null, delete: true }], { dryRun: true })
).pipe(
  Effect.map((answers) => (answers.every(({ exact }) => exact) ? true : undefined)),
  Effect.catchReason("ServiceError", "AccessDenied", ({ required }) => Effect.succeed(required === "ViewContacts")),
  Effect.orElseSucceed(() => undefined)
)

/** Whether the key may change keys: it is told so before it is told that the key to delete, of a new name, does not exist. */
export const probeManaging = Effect.gen(function* () {
  const { apiKeys } = yield* CredentialsService
  yield* apiKeys.delete(`roster-access-check-${yield* randomId}`)
  return undefined
}).pipe(
  Effect.catchTag("CredentialNotFound", () => Effect.succeed(true)),
  Effect.catchReason("ServiceError", "AccessDenied", () => Effect.succeed(false)),
  Effect.orElseSucceed(() => undefined)
)

/** Whether the session is that of a store on this machine, which has no keys to ask for: everything is allowed. */
export const isOwner = Atom.readable((get) => get(session)?.host?.isStore === true)

const asked = Atom.withReactivity(["rights"])
const probed = Atom.keepAlive(asked(runtime.atom(probeAccess())))
const modifies = Atom.keepAlive(asked(runtime.atom(probeModify)))
const manages = Atom.keepAlive(asked(runtime.atom(probeManaging)))

/** What came of asking what the key may do. It fails if the key is none. */
export const rights = Atom.readable((get) => (get(isOwner) ? AsyncResult.initial() : get(probed)))

/** Whether the key has a level; `undefined` where that is not known, so that the service decides. */
const has = Atom.family((level: Needed) =>
  Atom.readable((get): boolean | undefined => {
    if (get(isOwner)) return true
    if (level === "ModifyContacts") return AsyncResult.getOrElse(get(modifies), () => undefined)
    // Asked for by what needs it alone, since the service notes that it was asked.
    if (level === "ModifyAccessTokens") return AsyncResult.getOrElse(get(manages), () => undefined)
    return AsyncResult.getOrElse(get(probed), () => []).find((one) => one.level === level)?.granted
  })
)

/** Why what needs a level cannot be done with this key, if that is known. */
export const missing = Atom.family((level: Needed | undefined) =>
  Atom.readable((get): string | undefined =>
    level !== undefined && get(has(level)) === false ? appTexts.lacks(level, deeds[level]) : undefined
  )
)

const shownLevels = ["ViewContacts", "ModifyContacts", "Export", "Security"] as const satisfies ReadonlyArray<Needed>

/** What the key may do, as a sentence; empty before anything is known. */
export const rightsWords = Atom.readable((get): string => {
  if (get(isOwner)) return appTexts.ownStore
  const words = (granted: boolean) =>
    shownLevels.filter((level) => get(has(level)) === granted).map((level) => deeds[level])
  return appTexts.rights(words(true), words(false))
})

/** What a key can do here that changes contacts and does not see them; `undefined` for any other. */
export const unseenWords = Atom.readable((get): string | undefined =>
  get(has("ViewContacts")) === false && get(has("ModifyContacts")) === true ? appTexts.unseen : undefined
)

/** Controls that need a level: where the key lacks it, none of them works, and the reason stands with them. */
export const Needs = ({ children, level }: { readonly level: Needed; readonly children: ReactNode }) => {
  const reason = useAtomValue(missing(level))
  return (
    <fieldset className="needs" disabled={reason !== undefined}>
      {children}
      {reason === undefined ? null : <p>{reason}</p>}
    </fieldset>
  )
}
