/**
 * `roster`: the whole command line.
 */
import { Command } from "effect/cli"
import { apikeys } from "./commands/apikeys.ts"
import { audit } from "./commands/audit.ts"
import { auth } from "./commands/auth.ts"
import { backup } from "./commands/backup.ts"
import { commands } from "./commands/commands.ts"
import { completions } from "./commands/completions.ts"
import { config } from "./commands/config.ts"
import { contacts } from "./commands/contacts.ts"
import { doctor } from "./commands/doctor.ts"
import { emails } from "./commands/emails.ts"
import { exports } from "./commands/exports.ts"
import { jobs } from "./commands/jobs.ts"
import { profile } from "./commands/profile.ts"
import { restore } from "./commands/restore.ts"
import { serve } from "./commands/serve.ts"
import { smtp } from "./commands/smtp.ts"
import { whoami } from "./commands/whoami.ts"
import { globalFlags } from "./GlobalFlags.ts"

/**
 * @category commands
 * @since 0.1.0
 */
export const roster = Command.make("roster").pipe(
  Command.withDescription(
    "Contacts and access credentials, of a service (--base-url and a key) or in a local store (--db, or nothing at all)"
  ),
  Command.withExamples([
    { command: "roster contacts import contacts.csv", description: "Into the local store" },
    { command: 'roster contacts list --rule "status = Active"' },
    {
      command: "roster contacts list --base-url https://example.com/v4 --api-key-file key",
      description: "Of a service"
    },
    { command: "roster serve --port 4010 --db roster.db --key-file admin.key", description: "Be a service" }
  ]),
  Command.withSubcommands([
    contacts,
    exports,
    jobs,
    apikeys,
    smtp,
    audit,
    emails,
    serve,
    backup,
    restore,
    auth,
    profile,
    config,
    whoami,
    doctor,
    completions((): Command.Command.Any => roster),
    commands((): Command.Command.Any => roster)
  ]),
  Command.withGlobalFlags(globalFlags)
)
