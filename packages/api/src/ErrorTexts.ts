/**
 * The text of each documented refusal, which the server prints and the client parses. The status tells only its kind.
 * (docs/decisions/status-codes.md)
 */
import {
  ConflictingFilter,
  ContactNotFound,
  CredentialNotFound,
  ExceedsGrantor,
  EmailNotFound,
  ExportExpired,
  ExportNotFound,
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  ImportRefused,
  InvalidInput,
  InvalidRule,
  JobEnded,
  JobNotFound,
  JobState,
  LastManagingKey,
  ListNotFound,
  maximumContactsPerAdd,
  NameTaken,
  NotAllowedSender,
  RunNotFound,
  RunRefused,
  RunTaken,
  SavedRuleNotFound,
  StoreFailure,
  TooManyContacts,
  TooManyCredentials
} from "@roster/domain"
import { codeField, runRefusals, wireField } from "@roster/domain/internal"
import { Struct } from "effect"

/** How an error is written as the text of an answer, and read from it. */
export interface Text<E> {
  /** The status of the answer. */
  readonly status: 400 | 404 | 409
  /** Makes the error from the groups of the pattern. */
  readonly read: (...parts: ReadonlyArray<string>) => E
  /** What the text looks like. */
  readonly pattern: RegExp
  /** Writes the text. */
  readonly print: (error: E) => string
}

const text = <E extends Error>(
  status: Text<E>["status"],
  pattern: RegExp,
  read: Text<E>["read"],
  print: Text<E>["print"] = (error) => error.message
): Text<E> => ({ status, pattern, read, print })

/** Names that alone are no field of a body: a parameter of the path or query, or the body itself. */
const ofRequest = new Set(["email", "subaccount", "body", "listName"])

/** The texts by tag. A pattern is looser than our text where a known service phrases it differently. */
export const refusalTexts = {
  TooManyContacts: text(
    400,
    /^(\d+) contacts in one request, but at most (\d+) are allowed/,
    (count = "0", maximum = String(maximumContactsPerAdd)) =>
      new TooManyContacts({ count: Number(count), maximum: Number(maximum) })
  ),
  InvalidRule: text(
    400,
    /^Invalid rule, at character (\d+): (.*?)(?: \(hint: (.*)\))?$/s,
    (character = "1", problem = "", hint = "") =>
      new InvalidRule({
        rule: "",
        position: Number(character) - 1,
        length: 1,
        problem,
        expected: [],
        ...(hint === "" ? {} : { hint })
      }),
    ({ hint, position, problem }) =>
      `Invalid rule, at character ${position + 1}: ${problem}${hint === undefined ? "" : ` (hint: ${hint})`}`
  ),
  ListNotFound: text(400, /^There is no list "(.*)"\. A list is/s, (name = "") => new ListNotFound({ name })),
  ImportRefused: text(400, /^The import was refused: (.*)$/s, (reason = "") => new ImportRefused({ reason })),
  // Names in code become those on the wire and back. A name that no field has stays as it is.
  InvalidInput: text(
    400,
    /^Invalid (\S+): (.*)$/s,
    (field = "", issue = "") => new InvalidInput({ field: codeField(field), issue }),
    ({ field, issue }) => new InvalidInput({ field: ofRequest.has(field) ? field : wireField(field), issue }).message
  ),
  ContactNotFound: text(404, /^There is no contact (.*)\.$/s, (email = "") => new ContactNotFound({ email })),
  CredentialNotFound: text(404, /^There is no credential "(.*)"\.$/s, (name = "") => new CredentialNotFound({ name })),
  ExportNotFound: text(404, /^There is no export (\S+), or/, (id = "") => new ExportNotFound({ id })),
  ExportExpired: text(404, /^Export (\S+) has expired/, (id = "") => new ExportExpired({ id })),
  NameTaken: text(
    409,
    /^The name "(.*)" is taken\.(?:.* the (list) that has it)?/s,
    (name = "", list = "") => new NameTaken({ name, ...(list === "" ? {} : { isOfList: true as const }) })
  ),
  LastManagingKey: text(
    409,
    /^The key "(.*)" is the last one that can manage keys,/s,
    (name = "") => new LastManagingKey({ name })
  ),
  TooManyCredentials: text(
    409,
    /^This account already has (\d+) credentials of this kind/,
    (maximum = "0") => new TooManyCredentials({ maximum: Number(maximum) })
  ),
  // One of an earlier version says "for another request".
  IdempotencyKeyReused: text(409, /^This idempotency.key was used for another/i, () => new IdempotencyKeyReused({})),
  IdempotencyKeyInUse: text(
    409,
    /^Another call has this idempotency key at this time, .* make the call again in (\d+) s:/,
    (seconds = "0") => new IdempotencyKeyInUse({ retryAfter: Number(seconds) })
  ),
  RunNotFound: text(404, /^There is no run (\S+)\.$/, (run = "") => new RunNotFound({ run })),
  RunTaken: text(409, /^The run (\S+) is going on elsewhere\./, (run = "") => new RunTaken({ run })),
  JobNotFound: text(404, /^There is no job (\S+)\. Jobs can be seen/, (id = "") => new JobNotFound({ id })),
  JobEnded: text(
    409,
    /^The job (\S+) has ended before: its state is (\w+)\.$/,
    (id = "", state = "") => new JobEnded({ id, state: JobState.literals.find((known) => known === state) ?? "Ready" })
  ),
  EmailNotFound: text(404, /^There is no e-mail (\S+)\.$/, (id = "") => new EmailNotFound({ id })),
  SavedRuleNotFound: text(404, /^There is no saved rule "(.*)"\.$/s, (name = "") => new SavedRuleNotFound({ name })),
  // These match anywhere in a text, such as the name of a list, so they come last.
  NotAllowedSender: text(
    400,
    /from e-?mail address <?([^\s<>]+)>? is not allowed/i,
    (email = "") => new NotAllowedSender({ email })
  ),
  ConflictingFilter: text(400, /either a rule or a list of e-?mails, not both/i, () => new ConflictingFilter({}))
}

/** The errors that a caller can act on and that are sent over HTTP. */
export type Refusal = ReturnType<(typeof refusalTexts)[keyof typeof refusalTexts]["read"]>

/** Parses a refusal by its status and text; `undefined` for one without a tag. */
export const readRefusal = (status: number, answer: string): Refusal | undefined => {
  for (const entry of Object.values(refusalTexts)) {
    // An import that names a list which does not exist is a bad request; a path that does is not found.
    const isStatus = entry.status === status || (entry === refusalTexts.ListNotFound && status === 404)
    const match = isStatus ? entry.pattern.exec(answer) : null
    if (match !== null) return entry.read(...match.slice(1))
  }
  return undefined
}

/** The beginning of the 404 to a path that the interface does not have, which says nothing of a record. */
export const noSuchOperation = "There is no such operation."

const exceedsExpiry = /^An API key cannot create credentials that outlive it: Expires must be (\S+) or earlier\./
const exceedsRanges =
  /^An API key cannot allow addresses outside its own ranges: RestrictAccessToIPRange must lie within (.+?)\. Give/

/** The text of a refusal of access that states the limit of what a key can grant. */
export const printExceedsGrantor = ({ field, message }: ExceedsGrantor): string =>
  message.replace(`: ${field} must `, `: ${wireField(field)} must `)

/** Parses a refusal of access that states the limit of what a key can grant. */
export const readExceedsGrantor = (text: string): ExceedsGrantor | undefined => {
  const expiry = exceedsExpiry.exec(text)?.[1]
  if (expiry !== undefined) return new ExceedsGrantor({ field: "expires", limit: expiry })
  const ranges = exceedsRanges.exec(text)?.[1]
  return ranges === undefined ? undefined : new ExceedsGrantor({ field: "ipRanges", limit: ranges })
}

const storeFailed = /^The store failed: (.+)\. Nothing of this request was kept\.$/s

/** Parses the failure of a service whose store failed. */
export const readStoreFailure = (text: string): StoreFailure | undefined => {
  const detail = storeFailed.exec(text)?.[1]
  return detail === undefined ? undefined : new StoreFailure({ detail })
}

const runRefused = /^The run (\S+) takes no writes: (.+)\.$/

const refusalsOfRuns = Struct.keys(runRefusals)

/** Parses why a run takes no writes. */
export const readRunRefused = (text: string): RunRefused | undefined => {
  const [, run = "", said] = runRefused.exec(text) ?? []
  const why = refusalsOfRuns.find((why) => runRefusals[why] === said)
  return why === undefined ? undefined : new RunRefused({ run, why })
}

const atLimit = /^This account is at its limit: (.+) Try again (?:later|in [\d.]+ s)\.$/s

/** Parses what the account has too much of; `undefined` if the service only asks to slow down. */
export const readAccountLimit = (text: string): string | undefined => atLimit.exec(text)?.[1]

const unavailable = /^The service is not available: (.*)\. Try again (?:later|in [\d.]+ s)\.$/s

/** Parses why the service cannot answer now. */
export const readUnavailable = (text: string): string | undefined => unavailable.exec(text)?.[1]
