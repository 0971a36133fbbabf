/** `roster`: the tree of all commands. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { globalFlags } from "../settings/GlobalFlags.ts"
import {
  everyWord,
  isUnknown,
  type Group,
  type Loaded,
  loadGroup,
  type Words
} from "../commands/shared/LazyCommands.ts"

/** A command, and the module that exports it. */
const leaf = <L extends () => Promise<unknown>>(description: string, load: L) => ({ description, load })

/** Picks a command from a module that holds several. */
const from =
  <M>(load: () => Promise<M>) =>
  <const Name extends keyof M>(name: Name, description: string) =>
    leaf(description, async () => ({ command: (await load())[name] }))

const listVerb = from(() => import("../commands/lists/verbs.ts"))
const outboxVerb = from(() => import("../commands/emails/outbox.ts"))
const ruleVerb = from(() => import("../commands/rules/verbs.ts"))
const jobVerb = from(() => import("../commands/jobs/verbs.ts"))
const keyVerb = from(() => import("../commands/credentials/apikeys/verbs.ts"))
const smtpVerb = from(() => import("../commands/credentials/smtp/verbs.ts"))
const profileVerb = from(() => import("../commands/setup/profile/verbs.ts"))

const contacts = {
  description: "List, count, add, update, delete, import and export contacts, and undo that",
  examples: [
    { command: "roster contacts list" },
    { command: "roster contacts import contacts.csv", description: "Import the contacts of a file" }
  ],
  subcommands: {
    list: leaf("List contacts in the order they were added", () => import("../commands/contacts/list.ts")),
    count: leaf("Count all contacts, or those that a rule selects", () => import("../commands/contacts/count.ts")),
    fields: leaf(
      "Show which fields contacts have, with counts, kinds of values and examples, or give custom fields a kind",
      () => import("../commands/contacts/fields.ts")
    ),
    get: leaf("Show a contact with all its fields", () => import("../commands/contacts/get.ts")),
    history: leaf(
      "Show what was done to a contact, when and by which key: added, statuses, consents, lists, fields",
      () => import("../commands/contacts/history.ts")
    ),
    add: leaf("Add a contact, or update the one with the same address", () => import("../commands/contacts/add.ts")),
    update: leaf(
      "Change the names, custom fields and status of contacts",
      () => import("../commands/contacts/update.ts")
    ),
    delete: leaf("Delete contacts, after counting them", () => import("../commands/contacts/delete.ts")),
    import: leaf("Add or update contacts from a CSV file", () => import("../commands/contacts/import/import.ts")),
    apply: leaf(
      "Carry out the plan that an import wrote with --plan",
      () => import("../commands/contacts/import/apply.ts")
    ),
    runs: leaf(
      "List the imports, updates and deletes that can be undone; they are kept for 30 days",
      () => import("../commands/contacts/runs/runs.ts")
    ),
    undo: leaf(
      "Undo an import, update, delete, apply or undo, after showing what that changes",
      () => import("../commands/contacts/runs/undo.ts")
    ),
    export: leaf(
      "Export all contacts, those that a rule selects, or those named by address",
      () => import("../commands/contacts/export.ts")
    )
  }
} as const satisfies Group

const lists = {
  description: "Show, make, rename and delete lists, put contacts on them and take them off",
  examples: [{ command: "roster lists list" }, { command: "roster lists add Newsletter ann@example.com" }],
  subcommands: {
    list: listVerb("list", "Show the lists with the numbers of their contacts"),
    add: listVerb("add", "Put contacts on a list"),
    remove: listVerb("remove", "Take contacts off a list; they stay contacts"),
    create: listVerb("create", "Make an empty list"),
    rename: listVerb("rename", "Give a list another name; everybody stays on it"),
    delete: listVerb("deleteList", "Delete a list; the contacts on it stay")
  }
} as const satisfies Group

const jobs = {
  description: "List and cancel imports and exports",
  examples: [{ command: "roster jobs list --limit 10" }],
  subcommands: {
    list: jobVerb("list", "List imports and exports, newest first; finished ones are kept for 30 days"),
    get: jobVerb("get", "Show an import or export, or the rows that an import rejected"),
    cancel: jobVerb("cancel", "Cancel an import or export; contacts that were already imported stay")
  }
} as const satisfies Group

const apikeys = {
  description: "List, create, update, rotate, audit and delete API keys",
  examples: [{ command: "roster apikeys list" }],
  subcommands: {
    list: keyVerb("list", "List API keys, without their secrets"),
    get: keyVerb("get", "Show an API key, without its secret"),
    create: keyVerb("create", "Create an API key and show its secret once"),
    update: keyVerb("update", "Change the given settings of an API key, and no others"),
    rotate: leaf(
      "Give an API key a new secret now; the old one ends by itself",
      () => import("../commands/credentials/apikeys/rotate.ts")
    ),
    audit: leaf(
      "Find API keys that are unused, expire soon, have unused access levels or have no IP ranges",
      () => import("../commands/credentials/apikeys/audit.ts")
    ),
    delete: keyVerb("remove", "Delete an API key; it stops working at once")
  }
} as const satisfies Group

const smtp = {
  description: "List, create, update, rotate and delete SMTP credentials",
  examples: [{ command: "roster smtp list" }],
  subcommands: {
    list: smtpVerb("list", "List SMTP credentials, without their secrets"),
    get: smtpVerb("get", "Show SMTP credentials, without their secret"),
    create: smtpVerb("create", "Create SMTP credentials and show their secret once"),
    update: smtpVerb("update", "Change the given settings of SMTP credentials, and no others"),
    rotate: leaf(
      "Give SMTP credentials a new secret now, under a name with the day; the old ones end by themselves. Files and " +
        "commands get the name and the secret, one per line",
      () => import("../commands/credentials/smtp/rotate.ts")
    ),
    delete: smtpVerb("remove", "Delete SMTP credentials; they stop working at once")
  }
} as const satisfies Group

const audit = {
  description: "Show the audit trail: what was done with which key",
  examples: [{ command: "roster audit list" }],
  subcommands: {
    list: leaf(
      "List changes of credentials, exports and refused attempts, newest first",
      () => import("../commands/credentials/audit/list.ts")
    )
  }
} as const satisfies Group

const emails = {
  description: "Send e-mails, and read those that were accepted",
  examples: [
    { command: "roster emails send --from news@example.com --to ann@example.com --subject Hello --text Hello" }
  ],
  subcommands: {
    send: leaf("Send an e-mail; a local store keeps it in its outbox", () => import("../commands/emails/send.ts")),
    list: outboxVerb("list", "List the e-mails that were accepted, newest first"),
    get: outboxVerb("get", "Show an e-mail that was accepted")
  }
} as const satisfies Group

const rules = {
  description: "Save rules under names, which --rule @NAME stands for",
  examples: [{ command: "roster rules save vip \"plan = 'pro' AND status = Active\"" }],
  subcommands: {
    save: ruleVerb("save", "Save a rule, or replace the one of this name"),
    list: ruleVerb("list", "List the saved rules"),
    remove: ruleVerb("remove", "Remove a saved rule")
  }
} as const satisfies Group

const auth = {
  description: "Log in to a service, and log out",
  examples: [{ command: "roster auth login --base-url https://example.com/v4" }],
  subcommands: {
    login: leaf(
      "Save the address and the key of a service in a profile, and make it the default",
      () => import("../commands/setup/auth/login.ts")
    ),
    logout: leaf("Remove the key from a profile; its address stays", () => import("../commands/setup/auth/logout.ts"))
  }
} as const satisfies Group

const profile = {
  description: "List, select and remove the profiles that roster auth login saves",
  examples: [{ command: "roster profile use production" }],
  subcommands: {
    list: profileVerb("list", "List the profiles"),
    use: profileVerb("use", "Make a profile the default, or go back to the local store with: use local"),
    remove: profileVerb("remove", "Remove a profile and its key; nothing changes at the service")
  }
} as const satisfies Group

const commands = {
  description:
    "Manage contacts and access credentials, of a service (--base-url and an API key) or in a local store " +
    "(--db, or the default store)",
  examples: [
    { command: "roster contacts import contacts.csv", description: "Import into the local store" },
    { command: 'roster contacts list --rule "status = Active"' },
    {
      command: "roster contacts list --base-url https://example.com/v4 --api-key-file key",
      description: "List the contacts of a service"
    },
    { command: "roster serve --port 4010 --db roster.db --key-file admin.key", description: "Serve a store over HTTP" }
  ],
  subcommands: {
    contacts,
    lists,
    jobs,
    apikeys,
    smtp,
    audit,
    emails,
    rules,
    studio: leaf(
      "Show a store or service on a page of this machine, until interrupted",
      () => import("../commands/studio/studio.ts")
    ),
    serve: leaf("Serve a store over HTTP until interrupted", () => import("../commands/serve/serve.ts")),
    backup: leaf(
      "Back up a store to a file while it is in use, and verify the copy",
      () => import("../commands/store/backup.ts")
    ),
    restore: leaf(
      "Replace a store that nobody uses with a backup; the old store is kept",
      () => import("../commands/store/restore.ts")
    ),
    upgrade: leaf(
      "Bring a store of an earlier version up to date, after saying what that rewrites, and keep a copy",
      () => import("../commands/store/upgrade.ts")
    ),
    auth,
    profile,
    status: leaf(
      "Show the service or store in use, the key, where both are from, and what the key may do",
      () => import("../commands/setup/status.ts")
    ),
    doctor: leaf(
      "Check the service and its key, or the local store, its disk and its last backup",
      () => import("../commands/setup/doctor.ts")
    ),
    completions: leaf("Print the completion script for a shell", async () => ({
      command: (await import("../commands/completions/verbs.ts")).completions(everyCommand)
    })),
    commands: leaf("List all commands; as JSON, with their flags and arguments", async () => ({
      command: (await import("../commands/completions/verbs.ts")).commands(everyCommand)
    }))
  }
} as const satisfies Group

/** The commands of groups that have this name, such as `contacts import` of `import`. */
export const commandsOfGroups = (name: string): ReadonlyArray<string> =>
  Object.entries(commands.subcommands).flatMap(([group, command]) =>
    "subcommands" in command && Object.hasOwn(command.subcommands, name) ? [`${group} ${name}`] : []
  )

/** The errors of all commands. */
export type CommandError = Command.Error<Loaded<typeof commands>>

/** The command line, with the code of the commands that the words name. */
export const roster = (words: Words) =>
  Effect.map(
    Effect.promise(() => loadGroup("roster", commands, words)),
    Command.withGlobalFlags(globalFlags)
  )

const helpFlags = new Set(["--help", "-h"])

/** The words as they are parsed: help for a command that there is not would hide the mistake. */
export const withoutHelpForUnknown = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  isUnknown(commands, args) ? args.filter((word) => !helpFlags.has(word)) : args

/** The command line with the code of every command. */
export const everyCommand: Effect.Effect<Command.Command.Any> = Effect.suspend(() => roster(everyWord))
