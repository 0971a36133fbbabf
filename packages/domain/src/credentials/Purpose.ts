/** The purposes of a key, from which follow the access levels that it needs. */
import type { AccessLevel } from "../values/AccessLevel.ts"
import type { Named } from "../values/WireRecord.ts"

const levels = {
  "apikeys:read": "Security",
  "apikeys:write": "ModifyAccessTokens",
  "contacts:delete": "ModifyContacts",
  "contacts:export": "Export",
  "contacts:import": "ModifyContacts",
  "contacts:read": "ViewContacts",
  "contacts:write": "ModifyContacts",
  "emails:send": "SendHttp",
  "smtp:read": "Security",
  "smtp:write": "ModifyAccessTokens"
} as const satisfies Readonly<Record<string, AccessLevel>>

/** The purpose of a key, such as `contacts:read`. */
export type Purpose = Named<keyof typeof levels>

const isPurpose = (text: string): text is Purpose => Object.hasOwn(levels, text)

/** All purposes, in alphabetical order. */
export const purposes: ReadonlyArray<Purpose> = Object.keys(levels).filter(isPurpose).sort()

/** Parses a typed purpose, in full or only the part after the colon if that is unambiguous. */
export const parsePurpose = (text: string): Purpose | undefined => {
  const typed = text.trim().toLowerCase()
  const whole = purposes.find((purpose) => purpose === typed)
  const [short, ...others] = purposes.filter((purpose) => purpose.split(":")[1] === typed)
  return whole ?? (others.length === 0 ? short : undefined)
}

/** The access level that a key needs for a purpose. */
export const accessOf = (purpose: Purpose): AccessLevel => levels[purpose]

/** The access levels that a key needs for these purposes, and no others. */
export const accessFor = (wanted: Iterable<Purpose>): ReadonlyArray<AccessLevel> => [
  ...new Set(Array.from(wanted, accessOf))
]
