/** `roster restore` */
import type { StoreBackup } from "@roster/server"
import { Data, Effect, Predicate } from "effect"
import { Argument, Command } from "effect/cli"
import { confirm, yes } from "../shared/Confirm.ts"
import { database, databaseUrl } from "../../settings/Database.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { embeddedStoreFile, server } from "../../target/EmbeddedStore.ts"
import { Output } from "../../terminal/Output.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { Target } from "../../target/Target.ts"
import { refuseFlags, resubscribeFlag, withExamples } from "../shared/CommonFlags.ts"

const question = (file: string, { contacts, replaced }: StoreBackup.RestorePlan): string => {
  const what = `the ${counted(contacts)} of ${printable(file)} with its keys and jobs`
  switch (replaced._tag) {
    case "Nothing":
      return `create a new store from ${what}`
    case "Damaged":
      return `set this damaged store aside and restore ${what}`
    case "Store":
      return `replace this store, with ${counted(replaced.contacts)}, by ${what}`
  }
}

const restoredText = (file: string, { contacts, kept, replaced }: StoreBackup.Restored): string => {
  const restored = `Restored ${counted(contacts)} from ${printable(file)}`
  switch (replaced._tag) {
    case "Nothing":
      return `${restored} as a new store`
    case "Damaged":
      return `${restored}. The damaged store was moved to ${printable(kept ?? "")}`
    case "Store":
      return `${restored}. The old store, with ${counted(replaced.contacts)}, was moved to ${printable(kept ?? "")}`
  }
}

/** The flags without which a restore brings nothing back that must only move forward. */
const carryFlags = {
  bringBackKeys: toggle(
    "bring-back-keys",
    "Let API keys and SMTP credentials of the backup work again that the replaced store does not have (default: they " +
      "stay revoked)"
  ),
  revokeKeys: toggle("revoke-keys", "Restore no API key and no SMTP credential"),
  resubscribe: resubscribeFlag(
    "Restore the statuses of contacts who get no mail any more, too, or of those with the statuses that are named, such as " +
      "Bounced; of Abuse only by its name (default: they get none)"
  )
}

const shownNames = 10

const namesOf = (labels: ReadonlyArray<StoreBackup.CredentialLabel>): string => {
  const names = labels.map(({ account, name }) => printable(account === "" ? name : `${name} of ${account}`))
  const more = names.length - shownNames
  return names.slice(0, shownNames).join(", ") + (more > 0 ? ` and ${more} more` : "")
}

interface Given {
  readonly bringBackKeys: boolean
  readonly revokeKeys: boolean
}

/** What becomes of API keys and SMTP credentials. */
const keyLines = (carried: StoreBackup.CarriedForward, { bringBackKeys, revokeKeys }: Given): ReadonlyArray<string> => {
  const { credentials, hasKey, knowsKeys, lost, revoked } = carried
  const lines: Array<string> = []
  if (revokeKeys) lines.push("No API key and no SMTP credential will work.")
  else if (!knowsKeys && credentials > 0) {
    lines.push(
      `All API keys and SMTP credentials of the backup work again, also those that were deleted or rotated since: ` +
        `${credentials}. To start with none, add --revoke-keys.`
    )
  } else if (revoked.length > 0) {
    const which = "Keys of the backup that this store does not have"
    const names = namesOf(revoked)
    lines.push(
      bringBackKeys
        ? `${which} work again: ${names}`
        : `${which} stay revoked: ${names}. To bring them back, add --bring-back-keys.`
    )
  }
  if (lost.length > 0 && !revokeKeys) lines.push(`Keys that are not in the backup are lost: ${namesOf(lost)}`)
  if (!hasKey && (revokeKeys || knowsKeys)) lines.push("The next roster serve creates a new administrator key.")
  return lines
}

const noneLifted = { stopped: 0, added: 0 }

/** What becomes of contacts that get no mail, of deleted ones and of the audit trail. */
const otherLines = ({ carried, replaced }: StoreBackup.RestorePlan): ReadonlyArray<string> => {
  const { added, auditEntries, lifted = noneLifted, returning, stopped } = carried
  const isDeleted = replaced._tag === "Store" && replaced.contacts > 0
  const lines: ReadonlyArray<readonly [applies: boolean, line: string]> = [
    [stopped > lifted.stopped, `Contacts that get no mail any more keep their status: ${stopped - lifted.stopped}`],
    [lifted.stopped > 0, `Contacts that get no mail any more get the status of the backup: ${lifted.stopped}`],
    [
      added > lifted.added,
      `Contacts that get no mail and are not in the backup keep their address and status: ${added - lifted.added}`
    ],
    [lifted.added > 0, `Contacts that get no mail and are not in the backup are forgotten: ${lifted.added}`],
    [
      returning > 0 && isDeleted,
      `Contacts that this store does not have come back: ${returning}. Delete those again who asked for it.`
    ],
    [auditEntries > 0, `Entries of the audit trail that are not in the backup stay: ${auditEntries}`]
  ]
  return lines.flatMap(([applies, line]) => (applies ? [line] : []))
}

/** A dry run ends before anything is replaced. */
class OnlyShown extends Data.TaggedError("OnlyShown") {}

export const command = Command.make(
  "restore",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A backup that roster backup wrote")),
    databaseUrl,
    ...carryFlags,
    yes,
    dryRun
  },
  Effect.fnUntraced(function* ({ databaseUrl, dryRun, file, yes, ...given }) {
    const { bringBackKeys, resubscribe, revokeKeys } = given
    yield* refuseFlags([bringBackKeys && revokeKeys, "Give either --bring-back-keys or --revoke-keys."])
    const { noteExactly } = yield* Output
    const to = (yield* database(databaseUrl)) ?? (yield* embeddedStoreFile({ makesStore: true }))
    const { StoreBackup } = yield* server
    const restored = yield* StoreBackup.restore({
      from: file,
      to,
      bringBackKeys,
      revokeKeys,
      resubscribe,
      approve: Effect.fnUntraced(function* (plan) {
        const lines = [...keyLines(plan.carried, given), ...otherLines(plan)]
        // With --quiet, too, the user learns what would come back.
        yield* Effect.forEach(lines, (line) => noteExactly(printable(line)), { discard: true })
        if (dryRun) {
          yield* Results.summary({ dryRun, contacts: plan.contacts }, `Would ${question(file, plan)}`)
          return yield* new OnlyShown()
        }
        yield* confirm(question(file, plan), { yes }).pipe(
          Effect.provideService(Target, { name: Predicate.isString(to) ? `[local] ${plan.store}` : plan.store })
        )
      })
    }).pipe(Effect.catchTag("OnlyShown", () => Effect.undefined))
    if (restored === undefined) return
    const { carried, contacts, kept, replaced } = restored
    const { lifted = noneLifted } = carried
    yield* Results.summary(
      {
        ok: true,
        contacts,
        replacedContacts: replaced._tag === "Store" ? replaced.contacts : null,
        credentials: carried.credentials,
        statusesKept: carried.stopped + carried.added - (lifted.stopped + lifted.added),
        kept: kept ?? null
      },
      restoredText(file, restored)
    )
  })
).pipe(
  withExamples({
    "roster restore monday.db --db roster.db": "",
    "roster restore monday.db --database-url postgres://roster@db.example.com/roster":
      "Move to PostgreSQL: fill an empty database",
    "roster restore monday.db --db new.db --revoke-keys":
      "Restore into a new store in which no key of the backup works",
    "roster restore monday.db --yes": "Restore the default store without a confirmation prompt"
  })
)
