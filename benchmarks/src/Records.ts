/** The contacts that are measured with: the same in every run, from a fixed seed, in random order of address. */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"

const seed = 20261121

/** A number from 0 to 2^32 for each index (the finalizer of MurmurHash3). */
const scatter = (index: number): number => {
  let h = (index + seed) | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const firstNames = ["Ada", "Grace", "Zoë", "Linus", "Margaret", "Jürgen", "Barbara", "Ken", "Radia", "Edsger"]
const lastNames = ["Lovelace", "Hopper", "Müller", "Torvalds", "Hamilton", "Groß", "Liskov", "Thompson", "Perlman"]
const cities = ["Berlin", "Oslo", "São Paulo", "Nairobi", "Kyoto", "Lagos", "Lima", "Turin"]

const pick = (values: ReadonlyArray<string>, by: number): string => values[by % values.length] ?? ""

export interface Person {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly city: string
}

/** The person at an index: every address is another. */
export const person = (index: number): Person => {
  const random = scatter(index)
  return {
    email: `${random.toString(36)}.${index}@example${random % 50}.com`,
    firstName: pick(firstNames, random >>> 3),
    lastName: pick(lastNames, random >>> 7),
    city: pick(cities, random >>> 11)
  }
}

/** A contact with 15 fields, as the interface writes it. */
export const wireContact = (index: number) => {
  const { city, email, firstName, lastName } = person(index)
  return {
    Email: email,
    Status: "Active",
    FirstName: firstName,
    LastName: lastName,
    CustomFields: { city },
    Consent: { ConsentIP: "192.0.2.1", ConsentDate: "2025-03-01T12:00:00", ConsentTracking: "Allow" },
    Source: "ContactApi",
    DateAdded: "2025-03-01T12:00:00",
    DateUpdated: "2025-04-01T12:00:00",
    StatusChangeDate: null,
    Activity: { TotalSent: index % 100, TotalOpened: index % 10, LastSent: "2025-05-01T12:00:00" }
  }
}

/** A contact to add, as the interface writes it. */
export const wirePayload = (index: number) => {
  const { city, email, firstName, lastName } = person(index)
  return { Email: email, FirstName: firstName, LastName: lastName, CustomFields: { city } }
}

/** The path of a CSV file of so many rows, made when it is not there yet. `moved`: the same people in other cities. */
export const csvFile = (rows: number, kind?: "moved"): string => {
  const path = join(import.meta.dirname, "..", ".built", "data", `contacts-${rows}${kind ?? ""}.csv`)
  if (existsSync(path)) return path
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(`${path}.part`, "w")
  let text = "Email,FirstName,LastName,city\n"
  for (let i = 0; i < rows; i++) {
    const { city, email, firstName, lastName } = person(i)
    text += `${email},${firstName},${lastName},${kind === undefined ? city : `New ${city}`}\n`
    if (text.length > 1 << 20) {
      writeSync(file, text)
      text = ""
    }
  }
  writeSync(file, text)
  closeSync(file)
  renameSync(`${path}.part`, path)
  return path
}
