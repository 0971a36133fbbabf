/**
 * Inputs that several endpoints share. Names are those of the wire.
 */
import { EmailAddress, maximumContactsPerPage } from "@roster/domain"
import { Schema, SchemaGetter } from "effect"
import { OpenApi } from "effect/http-api"

const count = Schema.String.check(
  Schema.isPattern(/^[0-9]{1,16}$/, { expected: "a whole number in ASCII digits, given once" })
).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((digits) => Number(digits)),
    encode: SchemaGetter.transform((number) => String(number))
  })
)

/** One contact, by address. */
export const byEmail = { email: Schema.String }

/** One credential, by name. */
export const byName = { name: Schema.String }

/** The account whose credentials are meant. */
export const bySubaccount = { subaccount: Schema.optional(EmailAddress) }

/** A part of a list. (docs/decisions/paging.md) */
export const paging = { limit: Schema.optional(count), offset: Schema.optional(count) }

const pagingDocumented: Readonly<Record<string, object>> = {
  limit: { type: "integer", minimum: 0, maximum: maximumContactsPerPage, default: 20 },
  offset: { type: "integer", minimum: 0, default: 0 }
}

/** What the OpenAPI document says of such an operation: these are numbers, and how large they may be. */
export const documentPaging = OpenApi.annotations({
  transform: ({ parameters, ...operation }) => ({
    ...operation,
    parameters: parameters.map((parameter: OpenApi.OpenAPISpecParameter) => ({
      ...parameter,
      schema: pagingDocumented[parameter.name] ?? parameter.schema
    }))
  })
})

/** Several texts: the key repeated, or given once. */
export const repeated = Schema.Union([Schema.String, Schema.Array(Schema.String)]).pipe(
  Schema.decodeTo(Schema.Array(Schema.String), {
    decode: SchemaGetter.transform((value) => (typeof value === "string" ? [value] : value)),
    encode: SchemaGetter.transform((values) => values)
  })
)

/** Several e-mails: the key repeated, or one value with commas between them; no address that we make has one. */
export const emails = Schema.Union([Schema.String, Schema.Array(Schema.String)]).pipe(
  Schema.decodeTo(Schema.Array(Schema.String), {
    decode: SchemaGetter.transform((value) =>
      typeof value === "string" ? value.split(",").map((email) => email.trim()) : value
    ),
    encode: SchemaGetter.transform((values) => values)
  })
)
