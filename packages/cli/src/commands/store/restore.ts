/**
 * `roster restore`
 */
import type { StoreBackup } from "@roster/server"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { confirm, yes } from "../shared/Confirm.ts"
import { dryRun, endDryRun } from "../../terminal/DryRun.ts"
import { embeddedStoreFile, server } from "../../target/EmbeddedStore.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { Target } from "../../target/Target.ts"

const question = (file: string, { contacts, replaced }: StoreBackup.RestorePlan): string => {
  const what = `the ${counted(contacts)} of ${printable(file)} with its keys and jobs`
  switch (replaced._tag) {
    case "Nothing":
      return `make a new store of ${what}`
    case "Damaged":
      return `put this damaged store aside and in its place ${what}`
    case "Store":
      return `replace all that is there, ${counted(replaced.contacts)}, by ${what}`
  }
}

const account = (file: string, { contacts, kept, replaced }: StoreBackup.Restored): string => {
  const restored = `Restored ${counted(contacts)} from ${printable(file)}`
  switch (replaced._tag) {
    case "Nothing":
      return `${restored} as a new store`
    case "Damaged":
      return `${restored}. The damaged store lies in ${printable(kept ?? "")}`
    case "Store":
      return `${restored}. What was there before, ${counted(replaced.contacts)}, is kept in ${printable(kept ?? "")}`
  }
}

export const command = Command.make(
  "restore",
  { file: Argument.String("file").pipe(Argument.withDescription("A backup, made by: roster backup")), yes, dryRun },
  Effect.fnUntraced(function* ({ dryRun, file, yes }) {
    const store = yield* embeddedStoreFile
    const { StoreBackup } = yield* server
    const restored = yield* StoreBackup.restore({
      from: file,
      to: store,
      approve: (plan) =>
        dryRun
          ? endDryRun(`restore ${file}`, store, `Would ${question(file, plan)}`)
          : confirm(question(file, plan), { yes }).pipe(Effect.provideService(Target, { name: `[local] ${store}` }))
    })
    const { contacts, kept, replaced } = restored
    yield* Results.summary(
      {
        ok: true,
        contacts,
        replacedContacts: replaced._tag === "Store" ? replaced.contacts : null,
        kept: kept ?? null
      },
      account(file, restored)
    )
  })
).pipe(
  Command.withExamples([
    { command: "roster restore monday.db --db roster.db" },
    { command: "roster restore monday.db --yes", description: "The user's own store, without being asked" }
  ])
)
