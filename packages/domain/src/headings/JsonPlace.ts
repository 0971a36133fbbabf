/**
 * Where the contacts stand in JSON that has them deeper than an import reads: in a list, as on a page of an interface, or in an
 * object within each. (docs/decisions/csv.md)
 */
import { Predicate } from "effect"
import { emailAddressIssue } from "../contacts/EmailAddress.ts"
import { fieldsOfHeadings } from "./KnownHeadings.ts"

/** How deep contacts are looked for, and among how many values. */
const [deepest, mostValues] = [6, 1000]

/** A place in JSON, in the language of jq, and the name of the list that it goes through last. */
interface Place {
  readonly path: string
  readonly list: string | undefined
}

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  Predicate.isObject(value) && !Array.isArray(value)

type Kind = "Contact" | "Addresses" | "Objects"

const isContact = (value: { readonly [name: string]: unknown }): boolean => {
  const names = Object.keys(value).slice(0, mostValues)
  return names.some((name) => name.toLowerCase() === "email") || fieldsOfHeadings(names).includes("Email")
}

const stepTo = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? `.${name}` : `.[${JSON.stringify(name)}]`)

/** The first contact within a value, else the first list of addresses or of objects. */
const placeIn = (value: unknown, isInArray: boolean): (Place & { readonly kind: Kind }) | undefined => {
  const found = new Map<Kind, Place>()
  const waiting: Array<Place & { readonly value: unknown; readonly depth: number }> = [
    { value, path: isInArray ? ".[]" : "", list: undefined, depth: 0 }
  ]
  const note = (kind: Kind, { list, path }: Place): void => {
    if (!found.has(kind)) found.set(kind, { path, list })
  }
  for (let at = 0; at < Math.min(waiting.length, mostValues); at++) {
    const here = waiting[at]
    if (here === undefined || here.depth > deepest) continue
    const { depth, list, path, value } = here
    if (Array.isArray(value)) {
      const [first]: ReadonlyArray<unknown> = value
      const inList = { path: `${path}[]`, list }
      if (isRecord(first)) note("Objects", inList)
      if (typeof first === "string" && emailAddressIssue(first) === undefined) note("Addresses", inList)
      waiting.push({ ...inList, value: first, depth: depth + 1 })
    } else if (isRecord(value)) {
      if (depth > 0 && isContact(value)) {
        note("Contact", here)
        break
      }
      const entries = Object.entries(value).slice(0, mostValues)
      const [[, first] = []] = entries
      // Contacts by their identifiers rather than in a list.
      if (entries.length > 1 && entries.every(([, inner]) => isRecord(inner) && isContact(inner))) {
        waiting.push({ value: first, path: `${path === "" ? "." : path}[]`, list, depth: depth + 1 })
        continue
      }
      for (const [name, inner] of entries) {
        const isList = Array.isArray(inner)
        waiting.push({ value: inner, path: path + stepTo(name), list: isList ? name : list, depth: depth + 1 })
      }
    }
  }
  for (const kind of ["Contact", "Addresses", "Objects"] as const) {
    const place = found.get(kind)
    if (place !== undefined) return { kind, ...place }
  }
  return undefined
}

const inShell = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`

/**
 * Where the contacts are, if an object is no contact but has them within, in words that say how to take them out; `undefined` for
 * another object.
 */
export const contactsElsewhere = (object: unknown, isInArray: boolean): string | undefined => {
  if (!isRecord(object) || isContact(object)) return undefined
  const place = placeIn(object, isInArray)
  if (place === undefined) return undefined
  const { kind, list, path } = place
  const taken = `jq ${kind === "Addresses" ? "-r" : "-c"} ${inShell(path)} takes them out of the file`
  return list === undefined
    ? `each contact stands deeper in its object; ${taken}, to be imported`
    : `it is a page of an interface, perhaps one of several, and its list ${JSON.stringify(list.slice(0, 40))} has the ` +
        `${kind === "Addresses" ? "addresses" : "contacts"}; ${taken}, to be imported`
}

/** The beginning of a list of objects in an object that is too long to be read. */
const listBegins = /"((?:[^"\\]|\\.){1,100})"\s*:\s*\[\s*\{/

/** The same of the beginning of an object that is longer than one may be. */
export const listElsewhere = (beginning: string): string | undefined => {
  const [, name] = listBegins.exec(beginning) ?? []
  return name === undefined
    ? undefined
    : `it is a page of an interface, whose list "${name}" has the contacts; jq -c ${inShell(`${stepTo(name)}[]`)} takes them out of the file, to be imported`
}
