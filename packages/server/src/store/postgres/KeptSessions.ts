/** Tells a pooler in transaction mode, in front of a database, from a database and from one that keeps sessions. */
import { Effect } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import type { SqlClient } from "effect/sql"

/** What is wrong with a pooler, and what to do. */
export const lostSessions =
  "gives each transaction another session: let it keep sessions (pool_mode = session), or connect to the database itself"

/**
 * Whether a session keeps what is set in it, while another one is in a transaction: a pooler lends that one what the first
 * one had. Without prepared statements, which such a pooler loses too.
 */
export const keepsSessions = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const mark = (yield* WebCrypto).randomUUID()
  const first = yield* sql.reserve
  const second = yield* sql.reserve
  yield* first.executeValuesUnprepared("SELECT set_config('roster.session', $1, false)", [mark])
  const read = "SELECT current_setting('roster.session', true)"
  yield* second.executeValuesUnprepared("BEGIN", [])
  const [ofSecond] = yield* second.executeValuesUnprepared(read, [])
  const [ofFirst] = yield* first.executeValuesUnprepared(read, [])
  yield* second.executeValuesUnprepared("ROLLBACK", [])
  return ofFirst?.[0] === mark && ofSecond?.[0] !== mark
}, Effect.scoped)
