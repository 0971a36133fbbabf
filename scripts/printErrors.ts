/**
 * Writes the page of all errors: `pnpm docs:errors`. Tags and their meaning come from the code, statuses and exit codes from
 * the tables that the service and the command line use; only what to do about each stands here.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { refusalTexts } from "../packages/api/src/index.ts"
import { exits, reasonExits } from "../packages/cli/src/main/ExitCode.ts"
import { ServiceError, ServiceErrorReason } from "../packages/domain/src/index.ts"

export const page = "docs/errors.md"

/** What a program does about an error, by its tag. */
export const advice = {
  AccessDenied:
    "Use a key with the access level `required`, from an address in its ranges. Repeating the call does not help.",
  BackupRefused: "Restore another backup, or restore into an empty database.",
  CertificateError:
    "Correct the certificate or key file and start the service again. A running service keeps its old " +
    "certificate meanwhile.",
  ConflictingFilter: "Pass a rule or addresses, never both.",
  ContactChanged: "Show what is there now, and change it again with that as `seen`.",
  ContactExists: "Change the contact instead; nothing was changed.",
  ContactNotFound: "Add the contact, or treat it as deleted.",
  CredentialNotFound: "List the names; for a subaccount, name it.",
  EmailNotFound: "List the e-mails of the outbox.",
  ExceedsGrantor: "Stay within `limit`, or use a key that expires later and has wider ranges.",
  ExportExpired: "Request a new export.",
  ExportFailed: "If the reason is temporary, call `export` again; a smaller filter or another format may help.",
  ExportNotFound: "Check the id. A file is there once the export is `Ready`: wait with `awaitExport`.",
  ExportPollingFailed: "Call `awaitExport` with the same `id` when the service can be reached again.",
  ExportTimedOut: "Call `awaitExport` with the same `id` and a longer `limit`.",
  IdempotencyKeyInUse:
    "Leave the credential to the caller who has it. If that caller is no more, make the call again in `retryAfter` seconds.",
  IdempotencyKeyReused: "Give the call a key of its own, or make exactly the call that the key was used for.",
  ImportRefused: "Change the file or its options as `reason` says.",
  InvalidInput:
    "Correct the field that `field` names as code does (`email`, `[3].customFields.City`, `listNames`); on the wire " +
    "and in the reports of rows it has its name there (`[3].CustomFields.City`). Nothing was sent, or none of it was done.",
  InvalidResponse: "Check the base address. A write may have been carried out: look before you repeat it.",
  InvalidRule: "Correct the rule at `position`; `expected` and `hint` say how, and the message shows the place.",
  InvalidSeed: "Correct the line of the file.",
  InvalidSettings: "Set or correct what `setting` names.",
  JobEnded: "Read the result of the job.",
  JobNotFound: "List the jobs of the store.",
  LastManagingKey: "Create another key with ModifyAccessTokens first.",
  ListNotFound: "Add a contact with this list name, which creates the list.",
  NameTaken: "Choose another name, or update what has it.",
  NotAllowedSender: "Send from a verified sender, or allow this one (`--allow-sender`, `allowedSenders`).",
  NotChangeable: "Change it where the service lets you, or add the contact with its new content.",
  NotCleanedUp: "Delete what the conformance run left, by the names that it gives.",
  NotConformant: "See the cases that failed.",
  NotReplaced: "Mend what the message names, and rotate again. The old secret works as before.",
  OtherTarget: "Use the log of the store that it is for.",
  OutcomeUnknown: "Find out as `recovery` says before you repeat the call, or give it an `idempotencyKey`.",
  PlanOutdated: "Plan again, or apply without the contacts that changed.",
  RateLimited:
    "Wait `retryAfter` seconds before you repeat the call. Over HTTP the client itself waits up to 60 s and " +
    "repeats it; a longer wait, or a store in this process, fails at once.",
  Rejected: "Change the request as `detail` says.",
  ResponseTooLarge:
    "Request fewer contacts at once, or raise the limit of the client. A write may have been carried out.",
  RotationRefused: "Correct what the message names, or wait as it says, then rotate again.",
  RunLogFailure: "Check the disk, and the file that the message names.",
  RunNotFound: "List the runs of the log.",
  RunRefused: "Begin a run, and name that one; none of the call was done.",
  RunTaken:
    "Wait until the other program has ended, or stop it; after a kill, the service gives the run back in a minute.",
  SavedRuleNotFound: "List the names with `AccountService.rules`.",
  ServeError: "Choose another port or host.",
  ServeProcessFailed: "Read its output, which the message quotes.",
  ServiceError:
    "Look at its `reason`, with `Effect.catchReason`; `isRetryable` says whether the same call may be repeated.",
  SimulationFailed: "Run it again with `repeat`, and correct what its calls show.",
  SourceTooLarge: "Give a file to keep the rows in, by `spool`, or import the contacts in parts; nothing was sent.",
  Stopped:
    "Look at its `reason`, and run the program again for what is left: its `report` says how much. " +
    "[What fails](programs.md#what-fails) says which programs do nothing twice.",
  StoreDamaged: "Restore a backup, or open another file.",
  StoreFailure: "Check the disk and the database, then repeat the call: none of it was stored.",
  StoreUnavailable:
    "Check the path and its permissions, or whether another process holds it; with `isOlder`, upgrade it first " +
    "(`roster upgrade`, or `StoreUpgrade.upgrade`).",
  TimedOut: "Repeat the call, or allow it more time.",
  TooManyContacts: "Send at most 1000 at once: `addAll` and `importContacts` divide any number.",
  TooManyCredentials: "Delete a credential that nobody uses.",
  TooManyRows: "Divide the contacts, and import the parts one after another.",
  Unauthorized: "Check the key. Repeating the call does not help.",
  Unavailable:
    "Repeat the call after `retryAfter` seconds, or later; with `isPermanent`, correct the certificate or " +
    "the address instead.",
  UnclearConnection: "Set the address and key of a service, or a store, and not both; the message names the variables.",
  UnexpectedContentType:
    "Check the base address and what is in front of the service, such as a proxy or a login. A write may " +
    "have been carried out.",
  UnexpectedRedirect: "Use the address that it redirects to, if that is the service.",
  UnreadableExport: "Export the contacts again; nothing was sent.",
  UnreadableFile: "Correct the file, or say how it is encoded and delimited.",
  UnreadablePlan: "Use the whole file that the plan was written to; nothing was sent.",
  WouldResubscribe: "Ask the person, and then change it with `resubscribe`."
} as const

type Tag = keyof typeof advice

/** The packages whose errors a caller may meet, in the order of the page. */
const packages = ["domain", "workflows", "http-client", "server", "connect", "testing"]

/** The doc comment of each tagged error, by its tag. */
const meanings = (name: string): ReadonlyMap<string, string> =>
  new Map(
    globSync(`packages/${name}/src/**/*.ts`)
      .toSorted()
      .flatMap((file) =>
        Array.from(
          readFileSync(file, "utf8").matchAll(
            /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport class (\w+)(?:<[^>]*>)? extends (?:Schema\.|Data\.)?TaggedError/g
          ),
          ([, comment = "", tag = ""]): [string, string] => [tag, comment.replaceAll(/\s*\n \*\s*/g, " ").trim()]
        )
      )
  )

const reasons = new Set<string>(ServiceErrorReason.members.map((reason) => reason.identifier))

/** The statuses of the reasons that a service answers with. (packages/server/src/http/WireErrors.ts) */
const reasonStatus: Readonly<Record<string, string>> = {
  AccessDenied: "403",
  ExceedsGrantor: "403",
  OutcomeUnknown: "500",
  RateLimited: "429",
  RunRefused: "400",
  StoreFailure: "503",
  Unauthorized: "401",
  Unavailable: "503"
}

/** The errors that only commands end with, whose hints commands print. */
const ofCommands = (): ReadonlyArray<string> => {
  const meaning = new Map([...meanings("cli"), ["PlatformError", "The result could not be written."]])
  return Object.entries(exits)
    .filter(([tag]) => !Object.hasOwn(advice, tag))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([tag, { exit, hint }]) => `| \`${tag}\` | ${meaning.get(tag) ?? ""} | ${hint} | | ${exit} |`)
}

const cell = (text: string) => text.replaceAll("|", "\\|")

const rowOf = (tag: Tag, meaning: string): string => {
  const statuses: Readonly<Record<string, { readonly status: number }>> = refusalTexts
  const status = reasonStatus[tag] ?? statuses[tag]?.status ?? ""
  const codes: Readonly<Record<string, { readonly exit: number }>> = { ...exits, ...reasonExits }
  return `| \`${tag}\` | ${cell(meaning)} | ${cell(advice[tag])} | ${status} | ${codes[tag]?.exit ?? ""} |`
}

const table = (rows: ReadonlyArray<string>): string =>
  ["| Error | What happened | What to do | Status | Exit code |", "|---|---|---|---|---|", ...rows].join("\n")

const head = `# Errors

The type of a method says what it can fail with. A failure that a caller can act on is a tag of its own; all others are one
\`ServiceError\`, whose \`reason\` says what happened. Each has a \`message\` in whole sentences for people, and fields for programs. None
contains a key or a request. A structured clone, as between threads, keeps the message and neither the tag nor the fields.

\`\`\`ts
import { ContactsService } from "@roster/domain"
import { Effect } from "effect"

const find = (email: string) =>
  ContactsService.use((contacts) => contacts.get(email)).pipe(
    Effect.catchTag("ContactNotFound", () => Effect.undefined),
    Effect.catchReason("ServiceError", "AccessDenied", ({ required }) =>
      Effect.as(Effect.logError(\`the key lacks \${required}\`), undefined)
    )
  )
\`\`\`

**Status** is the status of the HTTP answer with this error ([refusals on the wire](decisions/status-codes.md)). **Exit code** is that of a
command when the service or store reports the error; input that the command itself refuses ends with 2, before anything is sent.
[Retries](clients.md#retries) says what the client repeats by itself before it fails.

<!-- written by pnpm docs:errors -->
`

export const text = (): string => {
  const isKnown = (tag: string): tag is Tag => Object.hasOwn(advice, tag)
  const sections = packages.map((name) => {
    const found = [...meanings(name)].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const rows = (wanted: (tag: string) => boolean) =>
      table(found.flatMap(([tag, meaning]) => (isKnown(tag) && wanted(tag) ? [rowOf(tag, meaning)] : [])))
    const own = `## @roster/${name}\n\n${rows((tag) => !reasons.has(tag))}\n`
    return name === "domain"
      ? `${own}\n## The reasons of a ${ServiceError.identifier}\n\n${rows((tag) => reasons.has(tag))}\n`
      : own
  })
  return [head, ...sections, `## Of commands alone\n\n${table(ofCommands())}\n`].join("\n")
}

if (import.meta.main) writeFileSync(page, text())
