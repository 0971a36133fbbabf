/** The id of a store, which plans and records of runs name in place of its path or address. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"

/**
 * Gives the id of the contacts of an account: that of the store for the main account, and one made from it for each
 * subaccount, whose contacts are others.
 */
export const makeStoreIds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Every store has its id from its migrations on.
  const [store] = yield* Effect.orDie(sql<{ readonly id: string }>`SELECT id FROM stores`)
  const id = store?.id ?? ""
  return (account: string): string =>
    account === ""
      ? id
      : createHash("sha256")
          .update(JSON.stringify([id, account]))
          .digest("hex")
          .slice(0, id.length)
})
