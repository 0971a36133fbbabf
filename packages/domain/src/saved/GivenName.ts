/** The text of a name that a person gives to something of their own, such as a profile or a saved rule. */
import { Schema } from "effect"

/** Names of one kind; `what` is the kind in words, and `example` a name of it. */
export const givenName = (what: string, example: string) =>
  Schema.String.pipe(
    Schema.check(
      Schema.makeFilter(
        (name) =>
          /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) ||
          `the name of a ${what} has 1 to 64 letters, digits, dots, hyphens and underscores, such as ${example}`
      )
    )
  )
