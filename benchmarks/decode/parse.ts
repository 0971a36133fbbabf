/** The reference: the text becomes values that nobody has looked at. */
import { argument, steady } from "../src/Trial.ts"
import { pageText, size } from "./page.ts"

const pages = Number(argument("pages"))

await steady(async () => {
  let count = 0
  for (let page = 0; page < pages; page++) {
    const found: unknown = JSON.parse(pageText)
    if (Array.isArray(found)) count += found.length
  }
  if (count !== pages * size) throw new Error(`${count} contacts`)
  return count
})
