/**
 * Which contacts an operation is about: those that a rule selects, or those of a list of addresses. The two together
 * cannot be written; where they arrive from outside, one constructor tells them apart.
 * (Service interface, Contacts, rule 2.)
 */
import { Data, Effect, Option, Schema } from "effect"
import { requestField } from "../values/RequestField.ts"
import { ruleRefusal } from "./RuleRefusal.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import type { InvalidRule } from "./RuleError.ts"
import { parseRule } from "./RuleParser.ts"
import { checkRule, type ContactRule, type RawRule, RuleText } from "./RuleText.ts"

export type ContactFilter = Data.TaggedEnum<{
  ByRule: { readonly rule: ContactRule }
  ByEmails: { readonly emails: readonly [string, ...ReadonlyArray<string>] }
}>

/** The most addresses that one bulk delete may carry. More are deleted in parts, or by a rule. */
export const maximumEmailsPerDelete = 100_000

export const ContactFilter = Data.taggedEnum<ContactFilter>()

export class ConflictingFilter extends Schema.TaggedError<ConflictingFilter>()("ConflictingFilter", {}) {
  override get message(): string {
    return "A rule and a list of e-mails were both given. Provide either a rule or a list of e-mails, not both."
  }
}

const emptyList = "the list holds no e-mail"

const isText = (value: unknown): boolean => typeof value === "string" && value.isWellFormed()

const emailsRefusal = (field: string, emails: unknown): InvalidInput | undefined => {
  if (!Array.isArray(emails)) return new InvalidInput({ field, issue: "it is no list of e-mails" })
  if (emails.length === 0) return new InvalidInput({ field, issue: emptyList })
  const issue = "an e-mail address is a text without broken characters (lone surrogates)"
  const bad = emails.findIndex((email: unknown) => !isText(email))
  return bad < 0 ? undefined : new InvalidInput({ field: `${field}[${bad}]`, issue })
}

/**
 * Refuses a filter that selects nobody knows whom, in the same words on every layer, for callers whom no compiler stopped:
 * in the query of an export a list without addresses would vanish, and the export be one of everybody. The field is named as
 * it is sent, in a query or in a body.
 */
export const checkFilter = (filter: ContactFilter, sentIn: "query" | "body"): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => {
    const [emailsField, ruleField] = sentIn === "query" ? ["emails", "rule"] : ["Emails", "Rule"]
    const refusal = ContactFilter.$is("ByEmails")(filter)
      ? emailsRefusal(emailsField, filter.emails)
      : ContactFilter.$is("ByRule")(filter)
        ? ruleRefusal(ruleField, filter.rule)
        : new InvalidInput({ field: "filter", issue: "it is neither one by rule nor one by e-mails" })
    return refusal === undefined ? Effect.void : Effect.fail(refusal)
  })

const readRule = (rule: string | RawRule): Effect.Effect<ContactRule, InvalidRule> =>
  typeof rule === "string"
    ? Effect.map(Effect.fromResult(parseRule(rule)), () => RuleText.make(rule))
    : Effect.as(Effect.fromResult(checkRule(rule)), rule)

/**
 * Reads a filter from outside: a command line or a request. Gives `None` where neither part is there; refuses both at
 * once, a blank rule and an empty list, each of which would be read as "everything" by somebody.
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
  if (first === undefined) return yield* new InvalidInput({ field: "Emails", issue: emptyList })
  return Option.some<ContactFilter>(ContactFilter.ByEmails({ emails: [first, ...rest] }))
})

/** The body of a bulk delete as it travels. Both fields are optional here, so that the constructor above decides. */
export const EmailsPayload = Schema.Struct({
  rule: requestField(Schema.String),
  emails: requestField(Schema.Array(Schema.String))
}).pipe(Schema.encodeKeys({ rule: "Rule", emails: "Emails" }), Schema.annotate({ identifier: "EmailsPayload" }))
export type EmailsPayload = typeof EmailsPayload.Type
