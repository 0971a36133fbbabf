/** The plan that gives stored custom fields a kind: texts in the form of a file become those that rules compare. */
import { type Contact, InvalidInput, maximumChanges, type ServiceError } from "@roster/domain"
import {
  ContactColumns,
  FieldNames,
  fnRedacted,
  formOf,
  kindIssue,
  kindName,
  makeKindReader,
  makeStoredTextReader,
  exampleOf,
  storedTextReaders,
  type StoredTextReader,
  KnownFields
} from "@roster/domain/internal"
import { Effect, Stream, type Types } from "effect"
import type { RunLog } from "../runs/RunLog.ts"
import { makePlanner, type PlanCounts, type PlanOptions, writtenPlan } from "./ImportPlan.ts"
import type { Plan } from "./PlanApplication.ts"
import type { LeftValue, PlanSummary } from "./PlanFile.ts"
import { maximumNamedRows } from "../upload/UploadSurvey.ts"

/** The kinds of custom fields by the names of the fields, such as `date:DD.MM.YYYY` or `number:1.234,56`. */
export interface FieldKinds {
  readonly [customField: string]: string
}

/** A field that is given a kind, and what its stored texts tell of their form. */
interface Field {
  readonly name: string
  readonly kind: string
  readonly read: StoredTextReader
  readonly proved: { Kind: number; Stored: number }
}

/** The kinds that read a text of a field that is given one without a form; several if only a person knows which. */
const kindsOf = ({ kind }: Field, text: string): ReadonlyArray<string> => {
  const kinds = kind.includes(":") ? [] : (formOf(text)?.kinds ?? [])
  const read = kinds.filter((one) => kindName(one) === kind && makeKindReader(one)(text) !== undefined)
  return new Set(read.map((one) => makeKindReader(one)(text))).size < 2 ? read.slice(0, 1) : read
}

const fieldsOf = Effect.fnUntraced(function* (kinds: FieldKinds) {
  const fields = new Map<string, Field>()
  for (const [given, kind] of Object.entries(kinds)) {
    const name = given.trim()
    const folded = FieldNames.foldName(name)
    const issue = ContactColumns.isRecordColumn(name)
      ? "it is a built-in field, and only a custom field is given a kind"
      : fields.has(folded)
        ? "it is given two kinds"
        : kindIssue(kind)
    if (issue !== undefined) return yield* new InvalidInput({ field: name, issue })
    fields.set(folded, { name, kind, read: makeStoredTextReader(kind), proved: { Kind: 0, Stored: 0 } })
  }
  return fields
})

/** The texts of a contact in the fields, under the names that the contact has for them. */
const textsOf = ({ customFields = {} }: Contact, fields: ReadonlyMap<string, Field>) =>
  Object.entries(customFields).flatMap(([name, text]) => {
    const field = text === "" ? undefined : fields.get(FieldNames.foldName(name))
    return field === undefined ? [] : [{ name, text, field }]
  })

/** Refuses a date that only a person can read, where no form was given. */
const askOf = (field: Field, text: string): InvalidInput | undefined => {
  const kinds = kindsOf(field, text)
  if (kinds.length < 2) return undefined
  const issue = `${JSON.stringify(exampleOf(text))} does not tell which part is the day; give the form: ${kinds.join(" or ")}`
  return new InvalidInput({ field: field.name, issue })
}

/** Why a text stays as it is. */
const reasonOf = (field: Field, text: string, isUnclear: boolean): string => {
  const { kind } = field
  if (isUnclear) {
    const whole = kindName(kind) === "number" ? "; number:1.234 or number:1,234 reads whole numbers alone" : ""
    return `it may be converted already, since it is a ${kindName(kind)} as it stands and another one by ${kind}${whole}`
  }
  const [meant] = kindsOf(field, text)
  return `it is not of the kind ${kind}${meant === undefined ? "" : `; ${meant} reads it`}`
}

const planFields = KnownFields.fieldsOf<Pick<PlanOptions<unknown>, "storage" | "onProgress">>("a plan", {
  storage: true,
  onProgress: true
})

/**
 * Plans to store the texts of custom fields as rules compare them: dates as ISO 8601, numbers as plain decimals, `true` or
 * `false`. The contacts are read twice: a text that has two meanings is converted only if others of its field have only that of the
 * kind, and a kind without a form is refused if a text does not tell which form it has. What does not fit stays, and the summary
 * counts and names it (`valuesLeft`, `leftValues`).
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { planConversion } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const contacts = (yield* ContactsService).stream({ rule: "'Kunde seit' != ''" })
 *   const plan = yield* planConversion(contacts, { "Kunde seit": "date:DD.MM.YYYY" })
 *   if ((plan.summary.valuesLeft ?? 0) > 0) return undefined
 *   return yield* plan.apply
 * })
 * ```
 */
export const planConversion = fnRedacted("planConversion")(function* <E, R, ES = never>(
  contacts: Stream.Stream<Contact, E, R>,
  kinds: FieldKinds,
  options: Pick<PlanOptions<ES>, "storage" | "onProgress"> = {}
): Effect.fn.Return<Plan<ES>, E | ES | InvalidInput | ServiceError, R | RunLog> {
  yield* KnownFields.checkFields(planFields, options)
  const fields = yield* fieldsOf(kinds)
  yield* Stream.runForEachArray(contacts, (some) => {
    for (const { field, text } of some.flatMap((contact) => textsOf(contact, fields))) {
      const { proves, to } = field.read(text)
      const question = to === undefined ? askOf(field, text) : undefined
      if (question !== undefined) return Effect.fail(question)
      if (proves !== undefined) field.proved[proves]++
    }
    return Effect.void
  })
  const counts: Types.Mutable<PlanCounts> = { read: 0, rejected: 0, duplicates: 0, rejectedRows: [], causes: [] }
  const leftValues: Array<LeftValue> = []
  let valuesLeft = 0
  const valueOf = (contact: Contact, { field, text }: ReturnType<typeof textsOf>[number]): string => {
    const { isUnclear, to } = field.read(text)
    const isLeft = isUnclear && (field.proved.Kind === 0 || field.proved.Stored > 0)
    if (to !== undefined && !isLeft) return to
    valuesLeft++
    if (leftValues.length < maximumNamedRows) {
      const reason = reasonOf(field, text, isUnclear)
      leftValues.push({ email: contact.email, field: field.name, value: exampleOf(text), reason })
    }
    return text
  }
  const parts = Stream.map(Stream.grouped(contacts, maximumChanges), (some) =>
    some.map((contact) => {
      counts.read++
      const customFields = Object.fromEntries(
        textsOf(contact, fields).map((found) => [found.name, valueOf(contact, found)] as const)
      )
      return [
        { line: counts.read, contact: { email: contact.email, customFields } },
        { contact, lists: undefined }
      ] as const
    })
  )
  const storedTexts = storedTextReaders(Array.from(fields.values(), ({ kind, name }) => [name, kind] as const))
  const planner = makePlanner({ listNames: [], resubscribe: false }, counts, { storedTexts })
  const summary = (): PlanSummary => ({
    ...planner.summary(),
    ...(valuesLeft === 0 ? {} : { valuesLeft, leftValues })
  })
  return yield* writtenPlan(parts, { plan: planner.plan, summary }, options)
})
