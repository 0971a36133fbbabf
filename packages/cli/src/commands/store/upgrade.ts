/** `roster upgrade` */
import type { StoreUpgrade } from "@roster/server"
import { Effect, Predicate } from "effect"
import { Command } from "effect/cli"
import { database, databaseUrl } from "../../settings/Database.ts"
import { toggle } from "../../settings/FlagForms.ts"
import { embeddedStoreFile } from "../../target/EmbeddedStore.ts"
import { upgradeAloud } from "../../target/OlderStore.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"

const upgradedWords = ({ contacts, copy, store, to }: StoreUpgrade.Upgraded): string =>
  `Upgraded ${printable(store)} to step ${to}, and rewrote ${contacts === 0 ? "no contact" : counted(contacts)}.` +
  (copy === undefined ? "" : ` As it was, it is in ${printable(copy)}`)

export const command = Command.make(
  "upgrade",
  {
    databaseUrl,
    noCopy: toggle(
      "no-copy",
      "Keep no copy of the store as it was (default: one is kept beside it, and without room for it nothing is done)"
    )
  },
  Effect.fnUntraced(function* ({ databaseUrl, noCopy }) {
    const postgres = yield* database(databaseUrl)
    yield* refuseFlags([
      postgres !== undefined && noCopy,
      "--no-copy is for a store in a file: no copy of a PostgreSQL is kept, and roster backup makes one."
    ])
    const store = postgres ?? (yield* embeddedStoreFile({}))
    const upgraded = yield* upgradeAloud(store, { copy: !noCopy })
    if (upgraded === undefined) {
      const what = Predicate.isString(store) ? printable(store) : "The PostgreSQL"
      return yield* Results.summary({ ok: true, upgraded: false }, `${what} is of this version. Nothing was changed.`)
    }
    const { contacts, copy, from, rewrites, store: name, to } = upgraded
    yield* Results.summary(
      { ok: true, upgraded: true, store: name, from, to, rewrites, contacts, copy: copy ?? null },
      upgradedWords(upgraded)
    )
  })
).pipe(
  withExamples({
    "roster upgrade": "Upgrade the default store, and keep it as it was beside it",
    "roster upgrade --db roster.db --no-copy": "",
    "roster upgrade --database-url postgres://roster@db.example.com/roster":
      "A store on PostgreSQL, while no process of an earlier version is at work on it"
  })
)
