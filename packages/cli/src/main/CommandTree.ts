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

/** Picks a command from a module that holds several. */
const from =
  <M>(load: () => Promise<M>) =>
  <const Name extends keyof M>(name: Name) =>
  async () => ({ command: (await load())[name] })

const exportVerb = from(() => import("../commands/exports/verbs.ts"))
const listVerb = from(() => import("../commands/lists/verbs.ts"))
const outboxVerb = from(() => import("../commands/emails/outbox.ts"))
const senderVerb = from(() => import("../commands/senders/verbs.ts"))
const jobVerb = from(() => import("../commands/jobs/verbs.ts"))
const keyVerb = from(() => import("../commands/credentials/apikeys/verbs.ts"))
const smtpVerb = from(() => import("../commands/credentials/smtp/verbs.ts"))
const profileVerb = from(() => import("../commands/setup/profile/verbs.ts"))

const contacts = {
  description: "List, add, update, delete, restore, import and export contacts, and undo that",
  examples: [
    { command: "roster contacts list" },
    { command: "roster contacts import contacts.csv", description: "Import the contacts of a file" }
  ],
  subcommands: {
    list: {
      description: "List contacts in the order they were added",
      load: () => import("../commands/contacts/list.ts")
    },
    get: { description: "Show a contact with all its fields", load: () => import("../commands/contacts/get.ts") },
    add: {
      description: "Add a contact, or update the one with the same address",
      load: () => import("../commands/contacts/add.ts")
    },
    update: {
      description: "Change the names and custom fields of a contact",
      load: () => import("../commands/contacts/update.ts")
    },
    delete: {
      description: "Delete contacts, after counting and backing them up",
      load: () => import("../commands/contacts/delete/delete.ts")
    },
    restore: {
      description: "Restore contacts from the backup that a delete wrote",
      load: () => import("../commands/contacts/restore.ts")
    },
    import: {
      description: "Add or update contacts from a CSV file",
      load: () => import("../commands/contacts/import/import.ts")
    },
    apply: {
      description: "Carry out the plan that an import wrote with --plan",
      load: () => import("../commands/contacts/import/apply.ts")
    },
    runs: {
      description: "List the imports, updates and deletes that can be undone; they are kept for 30 days",
      load: () => import("../commands/contacts/runs/runs.ts")
    },
    undo: {
      description: "Undo an import, update, delete, restore, apply or undo, after showing what that changes",
      load: () => import("../commands/contacts/runs/undo.ts")
    },
    export: {
      description: "Export all contacts, those that a rule selects, or those named by address",
      load: () => import("../commands/contacts/export.ts")
    }
  }
} as const satisfies Group

const lists = {
  description: "Show the lists of a local store, and take contacts off them (a service can only add to lists)",
  examples: [{ command: "roster lists list" }, { command: "roster lists remove Newsletter ann@example.com" }],
  subcommands: {
    list: { description: "Show the lists with the numbers of their contacts", load: listVerb("list") },
    remove: { description: "Take contacts off a list; they stay contacts", load: listVerb("remove") }
  }
} as const satisfies Group

const exports = {
  description: "Check and download exports started with: roster contacts export --no-wait",
  examples: [{ command: "roster exports status 3fa85f64-5717-4562-b3fc-2c963f66afa6" }],
  subcommands: {
    status: {
      description: "Show the status of an export: Loading, Ready, Error or Expired (exit code 10 for the last two)",
      load: exportVerb("status")
    },
    download: { description: "Download the file of a finished export", load: exportVerb("download") }
  }
} as const satisfies Group

const jobs = {
  description: "List and cancel the imports and exports of a local store (a remote service has no status of imports)",
  examples: [{ command: "roster jobs list --db roster.db" }],
  subcommands: {
    list: {
      description: "List imports and exports, newest first; finished ones are kept for 30 days",
      load: jobVerb("list")
    },
    get: { description: "Show an import or export, or the rows that an import rejected", load: jobVerb("get") },
    cancel: {
      description: "Cancel an import or export; contacts that were already imported stay",
      load: jobVerb("cancel")
    }
  }
} as const satisfies Group

const apikeys = {
  description: "List, create, update, rotate, audit and delete API keys",
  examples: [{ command: "roster apikeys list" }],
  subcommands: {
    list: { description: "List API keys, without their secrets", load: keyVerb("list") },
    get: { description: "Show an API key, without its secret", load: keyVerb("get") },
    create: { description: "Create an API key and show its secret once", load: keyVerb("create") },
    update: { description: "Change the given settings of an API key, and no others", load: keyVerb("update") },
    rotate: {
      description: "Replace the secret of an API key; the old one works until it is no longer used",
      load: () => import("../commands/credentials/apikeys/rotate.ts")
    },
    audit: {
      description: "Find API keys that are unused, expire soon, have unused access levels or have no IP ranges",
      load: () => import("../commands/credentials/apikeys/audit.ts")
    },
    delete: { description: "Delete an API key; it stops working at once", load: keyVerb("remove") }
  }
} as const satisfies Group

const smtp = {
  description: "List, create, update, rotate and delete SMTP credentials",
  examples: [{ command: "roster smtp list" }],
  subcommands: {
    list: { description: "List SMTP credentials, without their secrets", load: smtpVerb("list") },
    get: { description: "Show SMTP credentials, without their secret", load: smtpVerb("get") },
    create: { description: "Create SMTP credentials and show their secret once", load: smtpVerb("create") },
    update: { description: "Change the given settings of SMTP credentials, and no others", load: smtpVerb("update") },
    rotate: {
      description:
        "Replace SMTP credentials with new ones, whose name contains the date; --out and --exec get the name " +
        "and the secret, one per line",
      load: () => import("../commands/credentials/smtp/rotate.ts")
    },
    delete: { description: "Delete SMTP credentials; they stop working at once", load: smtpVerb("remove") }
  }
} as const satisfies Group

const audit = {
  description: "Show the audit trail of the credentials of a local store",
  examples: [{ command: "roster audit list" }],
  subcommands: {
    list: {
      description: "List changes of credentials and refused attempts, newest first",
      load: () => import("../commands/credentials/audit/list.ts")
    }
  }
} as const satisfies Group

const emails = {
  description: "Send e-mails, and read those that a local store has accepted",
  examples: [
    { command: "roster emails send --from news@example.com --to ann@example.com --subject Hello --text Hello" }
  ],
  subcommands: {
    send: {
      description: "Send an e-mail; a local store keeps it in its outbox",
      load: () => import("../commands/emails/send.ts")
    },
    list: { description: "List the e-mails in the outbox of a local store, newest first", load: outboxVerb("list") },
    get: { description: "Show an e-mail in the outbox of a local store", load: outboxVerb("get") }
  }
} as const satisfies Group

const senders = {
  description: "Allow senders of e-mails on the local stores of this user (a service has its own)",
  examples: [{ command: "roster senders allow news@example.com" }],
  subcommands: {
    allow: { description: "Allow e-mails from an address or a domain", load: senderVerb("allow") },
    list: { description: "List the allowed senders", load: senderVerb("list") },
    remove: { description: "Stop allowing a sender", load: senderVerb("remove") }
  }
} as const satisfies Group

const auth = {
  description: "Log in to a service, log out, and show which key is used",
  examples: [{ command: "roster auth login --base-url https://example.com/v4" }],
  subcommands: {
    login: {
      description: "Save the address and the key of a service in a profile, and make it the default",
      load: () => import("../commands/setup/auth/login.ts")
    },
    status: {
      description: "Show the service in use and where its key comes from, without a request",
      load: () => import("../commands/setup/auth/status.ts")
    },
    logout: {
      description: "Remove the key from a profile; its address stays",
      load: () => import("../commands/setup/auth/logout.ts")
    }
  }
} as const satisfies Group

const profile = {
  description: "List, select and remove the profiles that roster auth login saves",
  examples: [{ command: "roster profile use production" }],
  subcommands: {
    list: { description: "List the profiles", load: profileVerb("list") },
    use: {
      description: "Make a profile the default, or go back to the local store with: use local",
      load: profileVerb("use")
    },
    remove: { description: "Remove a profile and its key; nothing changes at the service", load: profileVerb("remove") }
  }
} as const satisfies Group

const config = {
  description: "Show the settings in effect",
  examples: [{ command: "roster config list --show-origin" }],
  subcommands: {
    list: {
      description: "List the settings in effect (keys masked)",
      load: () => import("../commands/setup/config/list.ts")
    }
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
    exports,
    jobs,
    apikeys,
    smtp,
    audit,
    emails,
    senders,
    serve: {
      description: "Serve a store over HTTP until interrupted",
      load: () => import("../commands/serve/serve.ts")
    },
    backup: {
      description: "Back up a store to a file while it is in use, and verify the copy",
      load: () => import("../commands/store/backup.ts")
    },
    restore: {
      description: "Replace a store that nobody uses with a backup; the old store is kept",
      load: () => import("../commands/store/restore.ts")
    },
    auth,
    profile,
    config,
    whoami: {
      description: "Show the service or store in use, the key and its access levels",
      load: () => import("../commands/setup/whoami.ts")
    },
    doctor: {
      description: "Check the settings, the network, the API key and the local store",
      load: () => import("../commands/setup/doctor.ts")
    },
    conformance: {
      description:
        "Run the conformance suite on an account, and show what its service does where the interface is silent",
      load: () => import("../commands/conformance/conformance.ts")
    },
    completions: {
      description: "Print the completion script for a shell",
      load: async () => ({ command: (await import("../commands/completions/verbs.ts")).completions(everyCommand) })
    },
    commands: {
      description: "List all commands; as JSON, with their flags and arguments",
      load: async () => ({ command: (await import("../commands/completions/verbs.ts")).commands(everyCommand) })
    }
  }
} as const satisfies Group

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
