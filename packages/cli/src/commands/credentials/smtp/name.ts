/**
 * The name of the SMTP credentials, as it is typed.
 */
import { EmailAddress } from "@roster/domain"
import { Argument, Flag } from "effect/cli"
import { parseWith } from "../../../errors/UsageError.ts"

const parse = (field: string) => parseWith(EmailAddress, field)

export const name = Argument.String("name").pipe(
  Argument.withDescription("The name they log in with, an e-mail address"),
  Argument.mapEffect(parse("name"))
)

export const rename = Flag.String("rename").pipe(
  Flag.mapEffect(parse("rename")),
  Flag.withMetavar("NEW"),
  Flag.withDescription("The new name"),
  Flag.withDefault(undefined)
)
