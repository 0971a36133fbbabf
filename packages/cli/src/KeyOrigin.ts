/**
 * Where a key comes from, in words.
 */
import { KeySource } from "./Settings.ts"

/**
 * @category printing
 * @since 0.1.0
 */
export const keyOrigin = KeySource.$match({
  Environment: () => "ROSTER_API_KEY",
  Profile: ({ name }) => `the profile ${name}`,
  File: ({ path }) => (path === "-" ? "standard input" : path),
  Command: ({ name }) => `a command of the profile ${name}`
})
