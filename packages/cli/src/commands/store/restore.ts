/** `roster restore` */
import type { StoreBackup } from "@roster/server"
import { Effect, Predicate } from "effect"
import { Argument, Command } from "effect/cli"
import { confirm, yes } from "../shared/Confirm.ts"
import { database, databaseUrl } from "../../settings/Database.ts"
import { dryRun, endDryRun } from "../../terminal/DryRun.ts"
import { embeddedStoreFile, server } from "../../target/EmbeddedStore.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { Target } from "../../target/Target.ts"
import { withExamples } from "../shared/CommonFlags.ts"

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

export const command = Command.make(
  "restore",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A backup that roster backup wrote")),
    databaseUrl,
    yes,
    dryRun
  },
  Effect.fnUntraced(function* ({ databaseUrl, dryRun, file, yes }) {
    const to = (yield* database(databaseUrl)) ?? (yield* embeddedStoreFile)
    const { StoreBackup } = yield* server
    const restored = yield* StoreBackup.restore({
      from: file,
      to,
      approve: (plan) =>
        dryRun
          ? endDryRun(`restore ${file}`, plan.store, `Would ${question(file, plan)}`)
          : confirm(question(file, plan), { yes }).pipe(
              Effect.provideService(Target, { name: Predicate.isString(to) ? `[local] ${plan.store}` : plan.store })
            )
    })
    const { contacts, kept, replaced } = restored
    yield* Results.summary(
      {
        ok: true,
        contacts,
        replacedContacts: replaced._tag === "Store" ? replaced.contacts : null,
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
    "roster restore monday.db --yes": "Restore the default store without a confirmation prompt"
  })
)
