/** Contacts and answers to changes as the JSON of the wire. */
import { Schema } from "effect"
import { Contact } from "./Contact.ts"
import { ChangeAnswerRecord } from "./ContactChange.ts"

const jsonOf = <A>(schema: Schema.Codec<A, unknown>) => {
  const encode = Schema.encodeSync(schema)
  return (value: A): string => JSON.stringify(encode(value))
}

/** The JSON of a contact. */
export const contactJson = jsonOf(Contact)

/** The JSON of an array of contacts. */
export const contactsJson = jsonOf(Schema.Array(Contact))

/** The JSON of an array of answers to changes. */
export const answersJson = jsonOf(Schema.Array(ChangeAnswerRecord))
