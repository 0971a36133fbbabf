/**
 * What a restore keeps of the store that it replaces. A restore never brings back a revoked key or a person who
 * unsubscribed.
 * (docs/decisions/backups.md)
 */
import {
  ContactStatus,
  isMailedStatus,
  ReportedAccessLevel,
  type Resubscribe,
  withheldStatuses,
  type AuditDetails
} from "@roster/domain"
import { isLifted, strictnessOf } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import { auditRow } from "../credentials/AuditTrail.ts"
import { settingColumnNames } from "../credentials/CredentialRow.ts"
import { pragma } from "../store/sqlite/StoreCheck.ts"
import { fromCause } from "../store/sqlite/StoreError.ts"
import { processSeconds } from "../store/StoreClock.ts"

/** What comes back with a backup after all, and what does not. */
export interface CarryOptions {
  /** Whether credentials work again that the replaced store does not have (default: false). */
  readonly bringBackKeys?: boolean | undefined
  /** The statuses of the replaced store in whose place those of the backup come back (default: false, which is none). */
  readonly resubscribe?: Resubscribe | undefined
  /** Whether the restored store begins without any credential (default: false). */
  readonly revokeKeys?: boolean | undefined
}

/** A credential, as people know it. */
export interface CredentialLabel {
  /** Whether it is an API key or an SMTP credential. */
  readonly kind: "ApiKey" | "Smtp"
  /** The account: empty for the main one. */
  readonly account: string
  /** Its name, in the store that has it. */
  readonly name: string
}

/** What a restore carries forward, or brings back where its options say so. */
export interface CarriedForward {
  /** Whether the replaced store knows which credentials are revoked. If not, all of the backup work again. */
  readonly knowsKeys: boolean
  /** The number of credentials that work after the restore. */
  readonly credentials: number
  /** Whether the main account has an API key after the restore. If not, the next service creates one. */
  readonly hasKey: boolean
  /** The credentials of the backup that the replaced store does not have: deleted or rotated since, or never its own. */
  readonly revoked: ReadonlyArray<CredentialLabel>
  /** The credentials of the replaced store that the backup does not have: made since. They are lost. */
  readonly lost: ReadonlyArray<CredentialLabel>
  /** The number of contacts of the backup with another status then, which stops mail less than that of now. */
  readonly stopped: number
  /** The number of contacts who are in the replaced store only, and must not get mail: their address and status stay. */
  readonly added: number
  /** How many of both do not keep the status of now, where `resubscribe` is given. */
  readonly lifted?: { readonly stopped: number; readonly added: number } | undefined
  /** The number of contacts of the backup that the replaced store does not have: they come back. */
  readonly returning: number
  /** The number of entries of the audit trail that the backup does not have. They stay in any case. */
  readonly auditEntries: number
}

const listed = (statuses: ReadonlyArray<string>): string => statuses.map((status) => `'${status}'`).join(", ")

const isWithheld = (status: ContactStatus): boolean => strictnessOf(status) > 0

/** How much a status stops mail: as on the ladder, below which those that get no mail stand above those that get some. */
const rankOf = (status: ContactStatus): number =>
  isWithheld(status) ? 1 + strictnessOf(status) : isMailedStatus(status) ? 0 : 1

const rank = (status: string): string =>
  `CASE ${status} ${ContactStatus.literals.map((each) => `WHEN '${each}' THEN ${rankOf(each)}`).join(" ")} ELSE 1 END`

const sameKey = "now.id = was.id AND now.secret_digest = was.secret_digest"
const sameContact = "now.account = was.account AND now.identity = was.identity"

/** Contacts of the backup whose status of now stops mail at least as much. */
const stopped = `${sameContact} AND now.status <> was.status AND ${rank("now.status")} > 0
  AND ${rank("now.status")} >= ${rank("was.status")}`

/** The last statuses that were given to people whom the store does not have any more. */
const deletedSince = `(
  SELECT account, identity, becomes AS status, time AS status_change_date, NULL AS error_code, NULL AS friendly_error_message
  FROM main.status_changes AS given WHERE field = 'status' AND NOT EXISTS (
    SELECT 1 FROM main.contacts AS now WHERE now.account = given.account AND now.identity = given.identity
  ) AND number = (
    SELECT max(number) FROM main.status_changes AS later
    WHERE later.account = given.account AND later.identity = given.identity AND field = 'status'))`

const auditColumns = "time, account, actor, actor_name, actor_hint, peer, operation, subject, outcome, details"
const changeColumns = "account, identity, field, was, becomes, time, key_name, run"

interface StoredCredential extends CredentialLabel {
  /** Its id and the digest of its secret: names are given again. */
  readonly key: string
  readonly levels: ReadonlyArray<ReportedAccessLevel>
}

const Credentials = Schema.Array(
  Schema.Struct({
    key: Schema.String,
    kind: Schema.Literals(["ApiKey", "Smtp"]),
    account: Schema.String,
    name: Schema.String,
    levels: Schema.fromJsonString(Schema.Array(ReportedAccessLevel))
  })
)
const decodeCredentials = Schema.decodeUnknownSync(Credentials)

/** The replaced store as `main`, and the copy that takes its place as `backup`. */
const statements = (database: DatabaseSync) => {
  const run = (text: string): number => Number(database.prepare(text).run().changes)
  /** A number, or 0 if there are no rows. */
  const numberOf = (value: string, from: string): number =>
    Number(database.prepare(`SELECT ${value} AS number ${from}`).get()?.["number"] ?? 0)
  return {
    run,
    numberOf,
    /** A store that was only begun, or is of an early version, lacks tables. */
    hasTable: (name: string): boolean =>
      numberOf("count(*)", `FROM main.sqlite_schema WHERE type = 'table' AND name = '${name}'`) === 1,
    hasColumn: (table: string, name: string): boolean =>
      numberOf("count(*)", `FROM pragma_table_info('${table}', 'main') WHERE name = '${name}'`) === 1,
    credentialsOf: (schema: "main" | "backup"): ReadonlyArray<StoredCredential> =>
      decodeCredentials(
        database
          .prepare(
            `SELECT id || ' ' || hex(secret_digest) AS key, kind, account, name, access_levels AS levels
             FROM ${schema}.credentials ORDER BY id`
          )
          .all()
      )
  }
}
type Statements = ReturnType<typeof statements>

const missingIn = (some: ReadonlyArray<StoredCredential>, others: ReadonlyArray<StoredCredential>) => {
  const keys = new Set(others.map(({ key }) => key))
  return some.filter(({ key }) => !keys.has(key))
}

/** Takes over which credentials and links to exports there are, what keys may do, and when they were used. */
const carryCredentials = ({ hasColumn, hasTable, run }: Statements, { bringBackKeys = false }: CarryOptions): void => {
  if (!bringBackKeys) {
    run(
      `DELETE FROM backup.credentials AS was WHERE NOT EXISTS (SELECT 1 FROM main.credentials AS now WHERE ${sameKey})`
    )
  }
  const settings = settingColumnNames.filter((column) => hasColumn("credentials", column))
  run(`UPDATE backup.credentials AS was
    SET ${[...settings, "last_use"].map((column) => `${column} = now.${column}`).join(", ")}
    FROM main.credentials AS now WHERE ${sameKey}`)
  // A store of an earlier version has the links themselves; an export can be asked for a new one.
  const isLinked = hasColumn("jobs", "link_digest")
    ? "SELECT 1 FROM main.jobs AS now WHERE now.id = was.id AND now.link_digest = was.link_digest AND now.state <> 'Cancelled'"
    : "SELECT 1 WHERE false"
  run(`UPDATE backup.jobs AS was SET link_digest = NULL WHERE link_digest IS NOT NULL AND NOT EXISTS (${isLinked})`)
  if (!hasTable("credential_uses")) return
  run(`INSERT OR REPLACE INTO backup.credential_uses (credential, level, last_use)
    SELECT credential, level, last_use FROM main.credential_uses WHERE credential IN (
      SELECT was.id FROM backup.credentials AS was, main.credentials AS now WHERE ${sameKey})`)
}

/** Takes over who must get no mail, also of those whom the backup does not know, without their other data. */
const carryStatuses = ({ hasTable, numberOf, run }: Statements, { resubscribe = false }: CarryOptions) => {
  if (!hasTable("contacts")) return { stopped: 0, added: 0, returning: 0 }
  const returning = numberOf(
    "count(*)",
    `FROM backup.contacts AS was
    WHERE NOT EXISTS (SELECT 1 FROM main.contacts AS now WHERE ${sameContact})`
  )
  const unknown = `FROM main.contacts AS now WHERE now.status IN (${listed(withheldStatuses)})
    AND NOT EXISTS (SELECT 1 FROM backup.contacts AS was WHERE ${sameContact})`
  // Inactive and Stale, of which no name is given, come back with all others.
  const lifted = ContactStatus.literals.filter((status) =>
    isWithheld(status) ? isLifted(status, resubscribe) : resubscribe === true
  )
  const isLiftedNow = `now.status IN (${listed(lifted)})`
  const sources = ["main.contacts", ...(hasTable("status_changes") ? [deletedSince] : [])]
  const sum = (count: (now: string) => number) => sources.reduce((sum, now) => sum + count(now), 0)
  const liftedStopped = sum((now) =>
    numberOf("count(*)", `FROM backup.contacts AS was, ${now} AS now WHERE ${stopped} AND ${isLiftedNow}`)
  )
  const liftedAdded = numberOf("count(*)", `${unknown} AND ${isLiftedNow}`)
  const kept = sum((now) =>
    run(`UPDATE backup.contacts AS was
    SET status = now.status, status_change_date = now.status_change_date, error_code = now.error_code,
      friendly_error_message = now.friendly_error_message
    FROM ${now} AS now WHERE ${stopped} AND NOT ${isLiftedNow}`)
  )
  const added = run(`INSERT INTO backup.contacts
      (account, identity, email, status, custom_fields, source, date_added, date_updated, status_change_date)
    SELECT account, identity, email, status, '{}', source, date_added, date_updated, status_change_date
    ${unknown} AND NOT ${isLiftedNow} ORDER BY id`)
  return {
    returning,
    stopped: kept + liftedStopped,
    added: added + liftedAdded,
    ...(resubscribe === false ? {} : { lifted: { stopped: liftedStopped, added: liftedAdded } })
  }
}

/** Adds the rows of a table that only grows which the backup does not have, with their numbers if it has given none of them to others. */
const carryRows = ({ hasTable, numberOf, run }: Statements, table: string, columns: string): number => {
  if (!hasTable(table)) return 0
  const of = (table: string): string => columns.replaceAll(/\w+/g, (name) => `${table}.${name}`)
  const added = `FROM main.${table} AS now WHERE NOT EXISTS (
    SELECT 1 FROM backup.${table} AS was WHERE was.number = now.number AND (${of("was")}) IS (${of("now")}))`
  const last = (schema: string) => numberOf("max(number)", `FROM ${schema}.${table}`)
  const first = numberOf("min(now.number)", added)
  const shift = first > last("backup") ? 0 : Math.max(last("backup"), last("main")) + 1 - first
  // Of an hour of a key there is one sum.
  return run(`INSERT OR IGNORE INTO backup.${table} (number, ${columns})
    SELECT now.number + ${shift}, ${of("now")} ${added} ORDER BY now.number`)
}

const grownCounts = ["created", "changed", "deleted", "gained", "lost"]

/** Carries the entries of the audit trail. What was written since is added to the entries that the backup has. */
const carryEntries = (on: Statements): number => {
  if (!on.hasTable("audit_entries") || !on.hasColumn("audit_entries", "created")) {
    return carryRows(on, "audit_entries", auditColumns)
  }
  const same = auditColumns.split(", ").map((column) => `now.${column} IS was.${column}`)
  const counts = (use: (column: string) => string) => grownCounts.map(use).join(", ")
  on.run(`UPDATE backup.audit_entries AS was SET ${counts((column) => `${column} = max(was.${column}, now.${column})`)}
    FROM main.audit_entries AS now WHERE now.number = was.number AND was.outcome = 'Wrote' AND ${same.join(" AND ")}`)
  return carryRows(on, "audit_entries", `${auditColumns}, ${grownCounts.join(", ")}`)
}

/** What has become of the credentials, one entry of the audit trail each. */
const changesOf = (was: ReadonlyArray<StoredCredential>, now: ReadonlyArray<StoredCredential>) => {
  const before = new Map(was.map((credential) => [credential.key, credential]))
  const entry = (of: CredentialLabel, details: AuditDetails) => ({ account: of.account, subject: of.name, details })
  return [
    ...missingIn(was, now).map((lost) => entry(lost, { levelsRemoved: lost.levels })),
    ...missingIn(now, was).map((returned) => entry(returned, { levelsAdded: returned.levels })),
    ...now.flatMap(({ key, name }) => {
      const known = before.get(key)
      if (known === undefined || known.name === name) return []
      return [entry(known, { changed: ["Name"], renamedTo: name })]
    })
  ]
}

const carry = (database: DatabaseSync, options: CarryOptions, time: number): CarriedForward => {
  const on = statements(database)
  const inBackup = on.credentialsOf("backup")
  const inStore = on.hasTable("credentials") ? on.credentialsOf("main") : []
  const knowsKeys =
    on.hasTable("credentials") && on.numberOf("seq", "FROM main.sqlite_sequence WHERE name = 'credentials'") > 0
  carryRows(on, "status_changes", changeColumns)
  const contacts = carryStatuses(on, options)
  const auditEntries = carryEntries(on)
  if (options.revokeKeys === true) on.run("DELETE FROM backup.credentials")
  else if (knowsKeys) carryCredentials(on, options)

  const now = on.credentialsOf("backup")
  const insert = database.prepare(
    `INSERT INTO backup.audit_entries (${auditColumns}) VALUES (${auditColumns.replaceAll(/\w+/g, ":$&")})`
  )
  for (const change of changesOf(knowsKeys ? inStore : inBackup, now)) {
    const event = { ...change, actor: { _tag: "Owner" }, peer: undefined, operation: "restore" } as const
    insert.run(auditRow(event, "Done", time))
  }
  return {
    knowsKeys,
    credentials: now.length,
    hasKey: now.some(({ account, kind }) => kind === "ApiKey" && account === ""),
    revoked: knowsKeys ? missingIn(inBackup, inStore) : [],
    lost: missingIn(inStore, inBackup),
    ...contacts,
    auditEntries
  }
}

/**
 * Changes the copy of a backup that nobody has open, given the connection that has the replaced store, if there is one.
 * The store is only read.
 */
export const carryForward = Effect.fnUntraced(function* (
  store: DatabaseSync | undefined,
  staged: string,
  options: CarryOptions
) {
  const time = yield* processSeconds
  return yield* Effect.try({
    try: () => {
      using none = new DatabaseSync(":memory:")
      const database = store ?? none
      database.prepare("ATTACH ? AS backup").run(staged)
      try {
        pragma(database, "backup.synchronous = FULL")
        database.exec("BEGIN")
        const carried = carry(database, options, time)
        database.exec("COMMIT")
        return carried
      } finally {
        if (database.isTransaction) database.exec("ROLLBACK")
        // Completes the file, which gets its name without a WAL.
        database.exec("DETACH backup")
      }
    },
    catch: fromCause(staged)
  })
})
