/** The purposes of a key, from which follow the access levels that it needs. */
import { Result } from "effect"
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
  "emails:read": "ViewReports",
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

/** Parses purposes with commas between them; `contacts:read,write` are two of contacts. Gives the first that is none. */
export const parsePurposes = (text: string): Result.Result<ReadonlyArray<Purpose>, string> => {
  const found: Array<Purpose> = []
  for (const name of text.split(",")) {
    const [group] = found.at(-1)?.split(":") ?? []
    const purpose = (group === undefined ? undefined : parsePurpose(`${group}:${name.trim()}`)) ?? parsePurpose(name)
    if (purpose === undefined) return Result.fail(name.trim())
    found.push(purpose)
  }
  return Result.succeed(found)
}

const powers: Readonly<Record<(typeof levels)[keyof typeof levels], string>> = {
  Export: "exports everyone with all fields, by any rule",
  ModifyAccessTokens:
    "creates, changes and deletes every API key and SMTP credential, with no more than its own levels",
  ModifyContacts:
    "adds, overwrites and deletes everyone, also if it is only meant for a web form, and sees of a contact only what it sent",
  Security: "sees the names, levels and addresses of all API keys and SMTP credentials, and no secret",
  SendHttp: "sends e-mails to anybody, from every allowed sender",
  ViewContacts: "reads everyone with all fields",
  ViewReports: "reads every e-mail that was sent, with its recipients and texts"
}

/** The levels that purposes need, with their purposes and what a key with the level can do whatever it was made for. */
export const levelPowers: ReadonlyArray<{
  readonly level: AccessLevel
  readonly purposes: ReadonlyArray<Purpose>
  readonly power: string
}> = Object.values(levels)
  .filter((level, index, all) => all.indexOf(level) === index)
  .map((level) => ({ level, purposes: purposes.filter((purpose) => levels[purpose] === level), power: powers[level] }))

/** The access level that a key needs for a purpose. */
export const accessOf = (purpose: Purpose): AccessLevel => levels[purpose]

/** The access levels that a key needs for these purposes, and no others. */
export const accessFor = (wanted: Iterable<Purpose>): ReadonlyArray<AccessLevel> => [
  ...new Set(Array.from(wanted, accessOf))
]
