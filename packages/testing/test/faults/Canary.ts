/** Secrets that must never appear, and every way to print a value. */
import { Cause, Exit, Predicate, Redacted } from "effect"
import { inspect } from "node:util"

/** The API key, the token of a new API key and the password of new SMTP credentials in tests of faults. */
export const canary = {
  apiKey: "CANARY-key-5f2d1c9e8b7a",
  token: "CANARY-token-0a9b8c7d6e5f",
  password: "CANARY-password-112233aabbcc"
} as const

/** The key in the form that a client takes. */
export const canaryKey = Redacted.make<string>(canary.apiKey)

const needles = Object.values(canary)
  .flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret)
      .toString("base64")
      .replace(/(?<!=)=+$/, ""),
    Buffer.from(secret).toString("hex")
  ])
  .map((needle) => needle.toLowerCase())

/** Whether a text contains a secret, case-insensitively, since hosts are lower-cased. */
const holdsSecret = (text: string): boolean => {
  const small = text.toLowerCase()
  return needles.some((needle) => small.includes(needle))
}

/** A circular value is no leak, and JSON cannot print it. */
const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}

/** Every way to print a value. */
export const renderings = (value: unknown): ReadonlyArray<readonly [how: string, text: string]> => [
  ["String", String(value)],
  [
    "inspect",
    inspect(value, {
      depth: Infinity,
      showHidden: true,
      getters: true,
      maxArrayLength: Infinity,
      maxStringLength: Infinity
    })
  ],
  ["JSON", jsonOf(value)],
  ["stack", value instanceof Error ? `${value.stack ?? ""} ${value.message}` : ""],
  ["own properties", Predicate.isObject(value) ? jsonOf(Object.getOwnPropertyDescriptors(value)) : ""]
]

/** How a value, an exit or a cause leaks a secret; `undefined` if it does not. */
export const leaksOf = (what: string, value: unknown): ReadonlyArray<string> => {
  const printed = [...renderings(value)]
  if (Exit.isExit(value) && Exit.isFailure(value)) {
    printed.push(
      ["Cause.pretty", Cause.pretty(value.cause)],
      ...renderings(Cause.squash(value.cause)),
      ...renderings(value.cause)
    )
  }
  if (Exit.isExit(value) && Exit.isSuccess(value)) printed.push(...renderings(value.value))
  return printed.flatMap(([how, text]) => (holdsSecret(text) ? [`${what} by ${how}`] : []))
}
