/** The name of the API key that takes another one's place while a rotation runs. (docs/decisions/rotation.md) */
import { CredentialName } from "./Credential.ts"

/** What follows the name of a key in that of its successor. */
const suffix = "~next"

/** The maximum length of the name of a credential. */
const maximumLength = 254

/** FNV-1a in eight digits, which tells long names with the same beginning apart. */
const fingerprint = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

/** A name with an ending, cut where that would be too long. */
const ending = (name: string, end: string): string => {
  if (name.length + end.length <= maximumLength) return `${name}${end}`
  const marked = `~${fingerprint(name)}${end}`
  const kept = name.slice(0, maximumLength - marked.length)
  // The cut may have split a surrogate pair.
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}${marked}`
}

/** The name of an API key's successor until the key is deleted. */
export const apiKeySuccessor = (name: string, token: string): CredentialName =>
  CredentialName.make(ending(name, `${suffix}-${token}`))

/** Whether an API key is the successor of one of that name. Those of earlier versions have no token. */
export const isApiKeySuccessor = (name: string, candidate: string): boolean => {
  const [end = suffix] = /~next-[0-9a-f]{8}$/.exec(candidate) ?? []
  return candidate === ending(name, end)
}
