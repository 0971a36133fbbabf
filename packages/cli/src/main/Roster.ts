/** `roster`: the tree of all commands. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { apikeys } from "../commands/credentials/apikeys/apikeys.ts"
import { audit } from "../commands/credentials/audit/audit.ts"
import { auth } from "../commands/setup/auth/auth.ts"
import { config } from "../commands/setup/config/config.ts"
import { contacts } from "../commands/contacts/contacts.ts"
import { emails } from "../commands/emails/emails.ts"
import { exports } from "../commands/exports/exports.ts"
import { jobs } from "../commands/jobs/jobs.ts"
import { profile } from "../commands/setup/profile/profile.ts"
import { smtp } from "../commands/credentials/smtp/smtp.ts"
import { globalFlags } from "../settings/GlobalFlags.ts"
import { everyWord, type Group, loadGroup, type Words } from "../commands/shared/LazyCommands.ts"

const commands = {
  name: "roster",
  description:
    "Manage contacts and access credentials, of a service (--base-url and an API key) or in a local store (--db, or the default store)",
  examples: [
    { command: "roster contacts import contacts.csv", description: "Import into the local store" },
    { command: 'roster contacts list --rule "status = Active"' },
    {
      command: "roster contacts list --base-url https://example.com/v4 --api-key-file key",
      description: "List the contacts of a service"
    },
    { command: "roster serve --port 4010 --db roster.db --key-file admin.key", description: "Serve a store over HTTP" }
  ],
  subcommands: [
    contacts,
    exports,
    jobs,
    apikeys,
    smtp,
    audit,
    emails,
    {
      name: "serve",
      description: "Serve a store over HTTP until interrupted",
      load: () => import("../commands/serve/serve.ts")
    },
    {
      name: "backup",
      description: "Back up a store to a file while it is in use, and verify the copy",
      load: () => import("../commands/store/backup.ts")
    },
    {
      name: "restore",
      description: "Replace a store with a backup while it is in use; the old store is kept",
      load: () => import("../commands/store/restore.ts")
    },
    auth,
    profile,
    config,
    {
      name: "whoami",
      description: "Show the service or store in use, the key and its access levels",
      load: () => import("../commands/setup/whoami.ts")
    },
    {
      name: "doctor",
      description: "Check the settings, the network, the API key and the local store",
      load: () => import("../commands/setup/doctor.ts")
    },
    {
      name: "completions",
      description: "Print the completion script for a shell",
      load: async () => ({ command: (await import("./completions.ts")).completions(everyCommand) })
    },
    {
      name: "commands",
      description: "List all commands; as JSON, with their flags and arguments",
      load: async () => ({ command: (await import("./commands.ts")).commands(everyCommand) })
    }
  ]
} as const satisfies Group

/** The command line with the code of those commands whose names are among the words. */
export const roster = (words: Words) =>
  Effect.map(
    Effect.promise(() => loadGroup(commands, words)),
    Command.withGlobalFlags(globalFlags)
  )

/** The command line with the code of every command. */
export const everyCommand: Effect.Effect<Command.Command.Any> = Effect.suspend(() => roster(everyWord))
