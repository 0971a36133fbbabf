/**
 * The name of the API key, as it is typed.
 */
import { CredentialName } from "@roster/domain"
import { Argument, Flag } from "effect/cli"
import { parseWith } from "../../../errors/UsageError.ts"

const parse = (field: string) => parseWith(CredentialName, field)

export const name = Argument.String("name").pipe(
  Argument.withDescription("The name of the key"),
  Argument.mapEffect(parse("name"))
)

export const rename = Flag.String("rename").pipe(
  Flag.mapEffect(parse("rename")),
  Flag.withMetavar("NEW"),
  Flag.withDescription("The new name"),
  Flag.withDefault(undefined)
)
