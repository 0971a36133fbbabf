/** The text becomes contacts, by the schema that every layer reads them with. */
import { Contact } from "@roster/domain"
import { Schema } from "effect"
import { argument, steady } from "../src/Trial.ts"
import { pageText, size } from "./page.ts"

const pages = Number(argument("pages"))
const decode = Schema.decodeUnknownSync(Schema.Array(Contact))

await steady(async () => {
  let count = 0
  for (let page = 0; page < pages; page++) count += decode(JSON.parse(pageText)).length
  if (count !== pages * size) throw new Error(`${count} contacts`)
  return count
})
