/**
 * The tables, in numbered steps that run once and in order. Times are whole seconds since 1970 in UTC; an absent text is
 * NULL. What differs between the dialects stands in `SqlDialect`.
 */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { countAfterAdding, createContactBlocks } from "../contacts/ContactPagination.ts"
import { dialect } from "./SqlDialect.ts"

const createContacts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { increasingId } = dialect(sql)
  yield* sql`
    CREATE TABLE contacts (
      id ${sql.literal(increasingId)},
      account TEXT NOT NULL,
      identity TEXT NOT NULL,
      email TEXT NOT NULL,
      status TEXT NOT NULL,
      first_name TEXT,
      last_name TEXT,
      custom_fields TEXT NOT NULL,
      consent_ip TEXT,
      consent_date BIGINT,
      consent_tracking TEXT,
      source TEXT NOT NULL,
      date_added BIGINT NOT NULL,
      date_updated BIGINT,
      status_change_date BIGINT,
      total_sent INTEGER NOT NULL DEFAULT 0,
      total_opened INTEGER NOT NULL DEFAULT 0,
      total_clicked INTEGER NOT NULL DEFAULT 0,
      total_failed INTEGER NOT NULL DEFAULT 0,
      last_sent BIGINT,
      last_opened BIGINT,
      last_clicked BIGINT,
      last_failed BIGINT,
      last_ip TEXT,
      error_code INTEGER,
      friendly_error_message TEXT,
      UNIQUE (account, identity)
    )`
  yield* sql`
    CREATE TABLE lists (
      id ${sql.literal(increasingId)},
      account TEXT NOT NULL,
      name TEXT NOT NULL,
      UNIQUE (account, name)
    )`
  yield* sql`
    CREATE TABLE list_members (
      list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
      contact_id BIGINT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
      PRIMARY KEY (list_id, contact_id)
    )`
  yield* sql`CREATE INDEX list_members_by_contact ON list_members (contact_id)`
})

/** A secret is kept as its digest alone, with what people tell keys apart by: how it begins and how it ends. */
const createCredentials = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes, increasingId } = dialect(sql)
  yield* sql`
    CREATE TABLE credentials (
      id ${sql.literal(increasingId)},
      account TEXT NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      identity TEXT NOT NULL,
      access_levels TEXT NOT NULL,
      ip_ranges TEXT NOT NULL,
      date_created BIGINT NOT NULL,
      last_use BIGINT,
      expires BIGINT,
      secret_digest ${sql.literal(bytes)} NOT NULL UNIQUE,
      secret_hint TEXT NOT NULL
    )`
  yield* sql`CREATE UNIQUE INDEX api_keys_by_name ON credentials (account, identity) WHERE kind = 'ApiKey'`
  yield* sql`CREATE UNIQUE INDEX smtp_by_name ON credentials (identity) WHERE kind = 'Smtp'`
})

/** Work that outlives a request. Its input or output lies beside it in parts, so that one store holds everything. */
const createJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes, increasingId } = dialect(sql)
  yield* sql`
    CREATE TABLE jobs (
      number ${sql.literal(increasingId)},
      id TEXT NOT NULL UNIQUE,
      account TEXT NOT NULL,
      kind TEXT NOT NULL,
      state TEXT NOT NULL,
      request TEXT NOT NULL,
      file_key TEXT UNIQUE,
      rows_done BIGINT NOT NULL DEFAULT 0,
      accepted BIGINT NOT NULL DEFAULT 0,
      rejected BIGINT NOT NULL DEFAULT 0,
      problem TEXT,
      leased_until BIGINT NOT NULL DEFAULT 0,
      lease TEXT,
      created BIGINT NOT NULL,
      expires BIGINT NOT NULL
    )`
  yield* sql`CREATE INDEX jobs_by_state ON jobs (state, number)`
  yield* sql`
    CREATE TABLE job_parts (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      part INTEGER NOT NULL,
      content ${sql.literal(bytes)} NOT NULL,
      PRIMARY KEY (job, part)
    )`
  yield* sql`
    CREATE TABLE job_rejections (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      line BIGINT NOT NULL,
      reason TEXT NOT NULL,
      PRIMARY KEY (job, line)
    )`
})

const createOutbox = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE outbox (
      message_id TEXT PRIMARY KEY,
      transaction_id TEXT NOT NULL,
      account TEXT NOT NULL,
      message TEXT NOT NULL,
      created BIGINT NOT NULL
    )`
})

/** The answers to calls that carried a key, for as long as the call may be repeated. */
const createAnswers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes } = dialect(sql)
  yield* sql`
    CREATE TABLE idempotent_answers (
      account TEXT NOT NULL,
      call_key TEXT NOT NULL,
      request_digest ${sql.literal(bytes)} NOT NULL,
      status INTEGER NOT NULL,
      body ${sql.literal(bytes)} NOT NULL,
      created BIGINT NOT NULL,
      PRIMARY KEY (account, call_key)
    )`
  yield* sql`CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created)`
})

/**
 * What was done with credentials and what was refused, and what each key was last used for. The record is only added to.
 * It names credentials without referring to them, since it outlives them.
 */
const createCredentialAudit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { appendOnly, increasingId } = dialect(sql)
  yield* sql`
    CREATE TABLE audit_entries (
      number ${sql.literal(increasingId)},
      time BIGINT NOT NULL,
      account TEXT NOT NULL,
      actor TEXT NOT NULL,
      actor_name TEXT NOT NULL,
      actor_hint TEXT NOT NULL,
      peer TEXT,
      operation TEXT NOT NULL,
      subject TEXT,
      outcome TEXT NOT NULL,
      details TEXT NOT NULL
    )`
  yield* sql`
    CREATE INDEX audit_refusals ON audit_entries (actor, actor_name, actor_hint, time) WHERE outcome <> 'Done'`
  yield* Effect.forEach(appendOnly("audit_entries", "number"), (statement) => sql.unsafe(statement))
  yield* sql`
    CREATE TABLE credential_uses (
      credential BIGINT NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
      level TEXT NOT NULL,
      last_use BIGINT NOT NULL,
      PRIMARY KEY (credential, level)
    )`
})

/**
 * What can be seen of a job, and what an import notes while it reads: the rows that it rejected, as they were, and the
 * addresses that it has had. Jobs of before ended when nobody wrote it down: they count from when they were made.
 */
const addJobDetails = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { clustered } = dialect(sql)
  yield* sql`ALTER TABLE jobs ADD COLUMN duplicates BIGINT NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE jobs ADD COLUMN rejected_kept BIGINT NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE jobs ADD COLUMN rows_total BIGINT`
  yield* sql`ALTER TABLE jobs ADD COLUMN header TEXT`
  yield* sql`ALTER TABLE jobs ADD COLUMN ended BIGINT`
  yield* sql`UPDATE jobs SET ended = created WHERE state IN ('Ready', 'Error')`
  yield* sql`CREATE INDEX jobs_by_account ON jobs (account, number)`
  yield* sql`CREATE INDEX jobs_by_end ON jobs (ended) WHERE ended IS NOT NULL`
  yield* sql`ALTER TABLE job_rejections ADD COLUMN cells TEXT`
  yield* sql`
    CREATE TABLE job_addresses (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      identity TEXT NOT NULL,
      PRIMARY KEY (job, identity)
    ) ${sql.literal(clustered)}`
})

/** The addresses of an import as lists that are only added to. One that is under way goes on with those it has. */
const listJobAddresses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { increasingId, listOf } = dialect(sql)
  yield* sql`
    CREATE TABLE job_address_lists (
      number ${sql.literal(increasingId)},
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      identities TEXT NOT NULL
    )`
  yield* sql`CREATE INDEX job_address_lists_by_job ON job_address_lists (job)`
  yield* sql`
    INSERT INTO job_address_lists (job, identities)
    SELECT job, ${listOf("identity")} FROM job_addresses WHERE job IN (SELECT number FROM jobs WHERE state = 'Loading')
    GROUP BY job`
  yield* sql`DROP TABLE job_addresses`
})

const steps = {
  "1_contacts": createContacts,
  "2_credentials": createCredentials,
  "3_jobs": createJobs,
  "4_outbox": createOutbox,
  "5_answers": createAnswers,
  "6_contact_blocks": createContactBlocks,
  "7_job_details": addJobDetails,
  "8_credential_audit": createCredentialAudit,
  "9_job_address_lists": listJobAddresses,
  "10_count_after_adding": countAfterAdding
}

/** The number of the last step, which every store of this version has taken. */
export const latestMigration = Math.max(...Object.keys(steps).map((name) => Number.parseInt(name)))

/** Brings the tables of a store up to this version. A step that fails leaves nothing behind. */
export const migrate = Migrator.make({})({
  table: "migrations",
  loader: Migrator.fromRecord(steps)
})
