/** What all trials do: so many calls, so many of them at once, each for another address. */
import { person } from "../src/Records.ts"
import { argument } from "../src/Trial.ts"

export const baseUrl = argument("url")
export const apiKey = "a".repeat(64)
export const atOnce = Number(argument("at-once"))

const known = person(0).email
const some = Array.from({ length: 1000 }, (_, index) => person(index).email)

/** The address of each call. */
export const emails: ReadonlyArray<string> = Array.from(
  { length: Number(argument("calls")) },
  (_, index) => some[index % some.length] ?? known
)

/** The server answers every question with the same contact. */
export const check = (email: string | undefined): void => {
  if (email !== known) throw new Error(`the answer is about ${email}`)
}

/** Makes the calls by promises, and gives how many there were. */
export const callAll = async (get: (email: string) => Promise<string | undefined>): Promise<number> => {
  const left = emails.values()
  const worker = async () => {
    for (const email of left) check(await get(email))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return emails.length
}
