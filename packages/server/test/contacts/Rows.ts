/** Generators of rows of contacts: a value for each column by its kind. */
import { ContactFields } from "@roster/domain/internal"
import { Arbitrary, Schema } from "effect"
import { contactColumns } from "../../src/contacts/ContactRow.ts"

const oneOf = <const A extends string | number>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))

const orNull = (value: Arbitrary.Arbitrary<unknown>) =>
  Arbitrary.flatMap(oneOf([0, 1]), (n): Arbitrary.Arbitrary<unknown> => (n === 0 ? Arbitrary.Constant(null) : value))

const seconds = Arbitrary.schema(
  Schema.Int.check(Schema.isBetween({ minimum: -99_999_999_999, maximum: 299_999_999_999 }))
)
const count = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 })))

/** Rows of `contactColumns` with these texts. `customFields` gives the JSON of custom fields. */
export const rows = (options: {
  readonly text: Arbitrary.Arbitrary<string>
  readonly customFields: Arbitrary.Arbitrary<string>
}): Arbitrary.Arbitrary<ReadonlyArray<unknown>> => {
  const fields = new Map(ContactFields.allFields.map((field) => [field.column, field]))
  const valueOf = (field: ContactFields.ContactField): Arbitrary.Arbitrary<unknown> => {
    if (field.kind === "enumeration") return oneOf(field.values)
    return { text: options.text, number: count, date: seconds }[field.kind]
  }
  return Arbitrary.all(
    contactColumns.map((column) => {
      const field = fields.get(column)
      if (field === undefined) return column === "id" ? count : options.customFields
      return field.isStored === true ? valueOf(field) : orNull(valueOf(field))
    })
  )
}
