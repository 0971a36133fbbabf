/** The choice of contacts by a rule or by addresses, and its checks. No filter selects every contact by accident. */
import { Data, Effect, Option, Predicate, Schema } from "effect"
import { requestField } from "../values/OptionalField.ts"
import { payloadRecord, type Named } from "../values/WireRecord.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { refusal as fieldRefusal } from "../errors/KnownFields.ts"
import { type FieldsByTag, fieldsOf } from "../values/UnknownNames.ts"
import { type InvalidRule, ruleRefusal } from "./RuleError.ts"
import { checkRule, type ContactRule, type RawRule, RuleText } from "./RuleText.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** Selects contacts by a rule or by a non-empty list of addresses, never by both. */
export type ContactFilter = Named<
  Data.TaggedEnum<{
    ByRule: { readonly rule: ContactRule }
    ByEmails: { readonly emails: readonly [string, ...ReadonlyArray<string>] }
  }>
>

/** The maximum number of addresses in one bulk delete. More are deleted in parts, or by a rule. */
export const maximumEmailsPerDelete = 100_000

/** The constructors and the matcher of `ContactFilter`. */
export const ContactFilter = Data.taggedEnum<ContactFilter>()

/** The input had both a rule and a list of addresses. */
export class ConflictingFilter extends TaggedError<ConflictingFilter>()("ConflictingFilter", {}) {
  override get message(): string {
    return "A rule and a list of e-mails were both given. Provide either a rule or a list of e-mails, not both."
  }
}

const emptyList = "the list holds no e-mail"

const isText = (value: unknown): boolean => typeof value === "string" && value.isWellFormed()

const emailsRefusal = (emails: unknown): InvalidInput | undefined => {
  if (!Array.isArray(emails)) return new InvalidInput({ field: "emails", issue: "it is not a list of e-mails" })
  if (emails.length === 0) return new InvalidInput({ field: "emails", issue: emptyList })
  const issue = "an e-mail address is a text without broken characters (lone surrogates)"
  const bad = emails.findIndex((email: unknown) => !isText(email))
  return bad < 0 ? undefined : new InvalidInput({ field: `emails[${bad}]`, issue })
}

const filterFields: FieldsByTag<ContactFilter> = {
  byTag: {
    ByRule: fieldsOf("a filter by a rule", { _tag: true, rule: true }),
    ByEmails: fieldsOf("a filter by e-mails", { _tag: true, emails: true })
  }
}

const filterRefusal = (filter: ContactFilter): InvalidInput | undefined =>
  ContactFilter.$is("ByEmails")(filter)
    ? emailsRefusal(filter.emails)
    : ContactFilter.$is("ByRule")(filter)
      ? ruleRefusal(filter.rule)
      : new InvalidInput({ field: "filter", issue: "it selects neither by a rule nor by e-mails" })

const hasBoth = (filter: object): boolean =>
  Predicate.hasProperty(filter, "rule") &&
  filter.rule !== undefined &&
  Predicate.hasProperty(filter, "emails") &&
  filter.emails !== undefined

/** Checks a filter, with the same messages on every layer: an empty list in a query would export every contact. */
export const checkFilter = (filter: ContactFilter): Effect.Effect<void, ConflictingFilter | InvalidInput> =>
  Effect.suspend(() => {
    const refusal = hasBoth(filter)
      ? new ConflictingFilter({})
      : (fieldRefusal(filterFields, filter) ?? filterRefusal(filter))
    return refusal === undefined ? Effect.void : Effect.fail(refusal)
  })

const readRule = (rule: string | RawRule): Effect.Effect<ContactRule, InvalidRule> =>
  typeof rule === "string" ? RuleText.fromText(rule) : Effect.as(Effect.fromResult(checkRule(rule)), rule)

/**
 * Makes a filter from user input, if any. Refuses both kinds at once, a blank rule and an empty list, which a service
 * might read as "every contact".
 */
export const contactFilterFromInput = Effect.fnUntraced(function* (input: {
  readonly rule?: string | RawRule | undefined
  readonly emails?: ReadonlyArray<string> | undefined
}) {
  if (input.rule !== undefined && input.emails !== undefined) return yield* new ConflictingFilter({})
  if (input.rule !== undefined) {
    return Option.some<ContactFilter>(ContactFilter.ByRule({ rule: yield* readRule(input.rule) }))
  }
  if (input.emails === undefined) return Option.none<ContactFilter>()
  const [first, ...rest] = input.emails
  if (first === undefined) return yield* new InvalidInput({ field: "emails", issue: emptyList })
  return Option.some<ContactFilter>(ContactFilter.ByEmails({ emails: [first, ...rest] }))
})

/** The body of a bulk delete, and of what puts contacts on a list. Both fields are optional, since `contactFilterFromInput` decides about them. */
export class EmailsPayload extends Schema.Opaque<EmailsPayload>()(
  payloadRecord("a choice of contacts", {
    /** The rule that selects the contacts. */
    rule: requestField(Schema.String),
    /** The addresses of the contacts. */
    emails: requestField(Schema.Array(Schema.String))
  }).annotate({ identifier: "EmailsPayload" })
) {}
