/**
 * The tables, in numbered migrations. A migration is frozen SQL, or frozen code where SQL cannot say it, and imports
 * nothing that may change, so that a store of any earlier version migrates in the same way. Times are seconds since 1970
 * in UTC; an absent text is NULL.
 */
import { Context, Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { byEngine } from "./SqlDialect.ts"

/** The types that databases name differently, frozen like the migrations. */
const sqlite = { id: "INTEGER PRIMARY KEY AUTOINCREMENT", bytes: "BLOB", isSqlite: true }
const postgres = { id: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", bytes: "BYTEA", isSqlite: false }

type Dialect = typeof sqlite

const contacts = ({ id }: Dialect) => [
  `CREATE TABLE contacts (
      id ${id},
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
    )`,
  `CREATE TABLE lists (
      id ${id},
      account TEXT NOT NULL,
      name TEXT NOT NULL,
      UNIQUE (account, name)
    )`,
  `CREATE TABLE list_members (
      list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
      contact_id BIGINT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
      PRIMARY KEY (list_id, contact_id)
    )`,
  `CREATE INDEX list_members_by_contact ON list_members (contact_id)`
]

/** Only the digest of a secret is stored, and a hint: its prefix and last characters. */
const credentials = ({ bytes, id }: Dialect) => [
  `CREATE TABLE credentials (
      id ${id},
      account TEXT NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      identity TEXT NOT NULL,
      access_levels TEXT NOT NULL,
      ip_ranges TEXT NOT NULL,
      date_created BIGINT NOT NULL,
      last_use BIGINT,
      expires BIGINT,
      secret_digest ${bytes} NOT NULL UNIQUE,
      secret_hint TEXT NOT NULL
    )`,
  `CREATE UNIQUE INDEX api_keys_by_name ON credentials (account, identity) WHERE kind = 'ApiKey'`,
  `CREATE UNIQUE INDEX smtp_by_name ON credentials (identity) WHERE kind = 'Smtp'`
]

/** Jobs, which outlive their requests. Their input or output is stored in parts. */
const jobs = ({ bytes, id }: Dialect) => [
  `CREATE TABLE jobs (
      number ${id},
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
    )`,
  `CREATE INDEX jobs_by_state ON jobs (state, number)`,
  `CREATE TABLE job_parts (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      part INTEGER NOT NULL,
      content ${bytes} NOT NULL,
      PRIMARY KEY (job, part)
    )`,
  `CREATE TABLE job_rejections (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      line BIGINT NOT NULL,
      reason TEXT NOT NULL,
      PRIMARY KEY (job, line)
    )`
]

const outbox = () => [
  `CREATE TABLE outbox (
      message_id TEXT PRIMARY KEY,
      transaction_id TEXT NOT NULL,
      account TEXT NOT NULL,
      message TEXT NOT NULL,
      created BIGINT NOT NULL
    )`
]

/** The responses to calls with an Idempotency-Key, kept while the call may be retried. */
const answers = ({ bytes }: Dialect) => [
  `CREATE TABLE idempotent_answers (
      account TEXT NOT NULL,
      call_key TEXT NOT NULL,
      request_digest ${bytes} NOT NULL,
      status INTEGER NOT NULL,
      body ${bytes} NOT NULL,
      created BIGINT NOT NULL,
      PRIMARY KEY (account, call_key)
    )`,
  `CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created)`
]

/** The index of an account's contacts in order; on SQLite triggers count the contacts per block of 1024 ids. */
const contactBlocks = ({ isSqlite }: Dialect) => [
  `CREATE INDEX contacts_in_order ON contacts (account, id)`,
  ...(isSqlite
    ? [
        `CREATE TABLE contact_blocks (
          account TEXT NOT NULL,
          block INTEGER NOT NULL,
          contacts INTEGER NOT NULL,
          PRIMARY KEY (account, block)
        ) WITHOUT ROWID`,
        `INSERT INTO contact_blocks
          SELECT account, id >> 10 AS block, count(*) FROM contacts GROUP BY account, block`,
        `CREATE TRIGGER contact_blocks_add AFTER INSERT ON contacts BEGIN
          INSERT INTO contact_blocks VALUES (NEW.account, NEW.id >> 10, 1)
            ON CONFLICT (account, block) DO UPDATE SET contacts = contacts + 1;
        END`,
        `CREATE TRIGGER contact_blocks_remove AFTER DELETE ON contacts BEGIN
          UPDATE contact_blocks SET contacts = contacts - 1 WHERE account = OLD.account AND block = OLD.id >> 10;
          DELETE FROM contact_blocks WHERE account = OLD.account AND block = OLD.id >> 10 AND contacts = 0;
        END`
      ]
    : [])
]

/**
 * The details of a job, and the rejected rows and addresses of an import. Earlier jobs have no time of their end, so
 * they count from their creation.
 */
const jobDetails = ({ isSqlite }: Dialect) => [
  `ALTER TABLE jobs ADD COLUMN duplicates BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE jobs ADD COLUMN rejected_kept BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE jobs ADD COLUMN rows_total BIGINT`,
  `ALTER TABLE jobs ADD COLUMN header TEXT`,
  `ALTER TABLE jobs ADD COLUMN ended BIGINT`,
  `UPDATE jobs SET ended = created WHERE state IN ('Ready', 'Error')`,
  `CREATE INDEX jobs_by_account ON jobs (account, number)`,
  `CREATE INDEX jobs_by_end ON jobs (ended) WHERE ended IS NOT NULL`,
  `ALTER TABLE job_rejections ADD COLUMN cells TEXT`,
  `CREATE TABLE job_addresses (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      identity TEXT NOT NULL,
      PRIMARY KEY (job, identity)
    ) ${isSqlite ? "WITHOUT ROWID" : ""}`
]

/** The audit trail, append-only and without references to credentials, which it outlives; and the last uses of keys. */
const credentialAudit = ({ id, isSqlite }: Dialect) => [
  `CREATE TABLE audit_entries (
      number ${id},
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
    )`,
  `CREATE INDEX audit_refusals ON audit_entries (actor, actor_name, actor_hint, time) WHERE outcome <> 'Done'`,
  ...(isSqlite
    ? [
        `CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
          BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END`,
        `CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
          BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END`,
        // INSERT OR REPLACE deletes without asking the trigger above.
        `CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
          WHEN EXISTS (SELECT 1 FROM audit_entries WHERE number = NEW.number)
          BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END`
      ]
    : [
        `CREATE FUNCTION audit_entries_is_kept() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN RAISE EXCEPTION ''audit_entries is only added to''; END'`,
        `CREATE TRIGGER audit_entries_no_change BEFORE UPDATE OR DELETE ON audit_entries
          FOR EACH ROW EXECUTE FUNCTION audit_entries_is_kept()`,
        `CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries
          FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_is_kept()`
      ]),
  `CREATE TABLE credential_uses (
      credential BIGINT NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
      level TEXT NOT NULL,
      last_use BIGINT NOT NULL,
      PRIMARY KEY (credential, level)
    )`
]

/** The addresses of an import as append-only lists. An import in progress keeps those it has. */
const jobAddressLists = ({ id, isSqlite }: Dialect) => [
  `CREATE TABLE job_address_lists (
      number ${id},
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      identities TEXT NOT NULL
    )`,
  `CREATE INDEX job_address_lists_by_job ON job_address_lists (job)`,
  `INSERT INTO job_address_lists (job, identities)
    SELECT job, ${isSqlite ? "json_group_array(identity)" : "jsonb_agg(identity)::text"} FROM job_addresses WHERE job IN (SELECT number FROM jobs WHERE state = 'Loading')
    GROUP BY job`,
  `DROP TABLE job_addresses`
]

/**
 * Drops the trigger that counts added contacts, a quarter of the cost of an insert: adding counts them afterwards.
 * Contacts with a higher id than `last` of the last block of their account are not counted yet.
 */
const countAfterAdding = ({ isSqlite }: Dialect) =>
  isSqlite
    ? [
        `DROP TRIGGER contact_blocks_add`,
        `DROP TRIGGER contact_blocks_remove`,
        `DROP TABLE contact_blocks`,
        `CREATE TABLE contact_blocks (
          account TEXT NOT NULL,
          block INTEGER NOT NULL,
          contacts INTEGER NOT NULL,
          last INTEGER NOT NULL,
          PRIMARY KEY (account, block)
        ) WITHOUT ROWID`,
        `INSERT INTO contact_blocks
          SELECT account, id >> 10 AS block, count(*), max(id) FROM contacts GROUP BY account, block`,
        `CREATE TRIGGER contact_blocks_remove AFTER DELETE ON contacts BEGIN
          UPDATE contact_blocks SET contacts = contacts - 1
            WHERE account = OLD.account AND block = OLD.id >> 10 AND last >= OLD.id;
          DELETE FROM contact_blocks WHERE account = OLD.account AND block = OLD.id >> 10 AND contacts = 0;
        END`
      ]
    : []

/**
 * The bounds of an account. `attempts` counts how often a job was taken up since it got further than `furthest`; `turn`
 * numbers the starts of jobs; `rejected_size` and `bytes` are the sizes of what a row keeps, and `running` the sum of those of the account.
 */
const accountBounds = ({ isSqlite }: Dialect) => [
  `ALTER TABLE jobs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE jobs ADD COLUMN furthest BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE jobs ADD COLUMN turn BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE jobs ADD COLUMN rejected_size BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE jobs ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0`,
  `UPDATE jobs SET bytes = (SELECT coalesce(sum(length(content)), 0) FROM job_parts WHERE job = number)
    WHERE number IN (SELECT job FROM job_parts)`,
  `CREATE INDEX jobs_open ON jobs (account) WHERE ended IS NULL`,
  `CREATE INDEX jobs_with_files ON jobs (account, kind, bytes) WHERE bytes > 0`,
  `CREATE INDEX jobs_by_turn ON jobs (turn)`,
  `CREATE INDEX jobs_by_turn_of_account ON jobs (account, turn)`,
  `ALTER TABLE outbox ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0`,
  `UPDATE outbox SET bytes = ${isSqlite ? "length(CAST(message AS BLOB))" : "octet_length(message)"}`,
  `CREATE INDEX outbox_by_account ON outbox (account, bytes)`,
  `ALTER TABLE idempotent_answers ADD COLUMN running BIGINT NOT NULL DEFAULT 0`,
  `CREATE INDEX idempotent_answers_in_order ON idempotent_answers (account, running)`
]

/**
 * Lets entries of the audit trail go when their time is over: a change after 400 days, a refusal after 90, or after one
 * if there are 100,000 newer entries.
 */
const auditRetention = ({ isSqlite }: Dialect) => {
  const now = isSqlite ? "unixepoch()" : "extract(epoch FROM now())"
  const mayGo = `CASE WHEN OLD.outcome = 'Done' THEN OLD.time <= ${now} - 34560000
    ELSE OLD.time <= ${now} - 7776000
      OR (OLD.time <= ${now} - 86400 AND OLD.number <= (SELECT max(number) FROM audit_entries) - 100000) END`
  return [
    `DROP INDEX audit_refusals`,
    `CREATE INDEX audit_refusals_by_age ON audit_entries (time) WHERE outcome <> 'Done'`,
    `CREATE INDEX audit_changes_by_age ON audit_entries (time) WHERE outcome = 'Done'`,
    ...(isSqlite
      ? [
          `DROP TRIGGER audit_entries_no_delete`,
          `CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries WHEN NOT (${mayGo})
            BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END`
        ]
      : [
          `CREATE OR REPLACE FUNCTION audit_entries_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
            IF TG_OP = 'DELETE' THEN
              IF (${mayGo}) THEN RETURN OLD; END IF;
            END IF;
            RAISE EXCEPTION 'audit_entries is only added to';
          END$$`
        ])
  ]
}

/** Counts the rows of an import whose contacts kept their status, and keeps the first of them. */
const keptStatuses = ({ isSqlite }: Dialect) => [
  `ALTER TABLE jobs ADD COLUMN statuses_kept BIGINT NOT NULL DEFAULT 0`,
  `CREATE TABLE job_kept_statuses (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      line BIGINT NOT NULL,
      status TEXT NOT NULL,
      PRIMARY KEY (job, line)
    ) ${isSqlite ? "WITHOUT ROWID" : ""}`
]

/**
 * On PostgreSQL contacts have the key by which they are found, which spreads over the nodes of a distributed database and
 * leads with the account, by which the table can be partitioned; their order is an index per account, and both compare
 * bytes, whatever the collation of the database. So an insert writes two indexes in place of three. What leaves a list with
 * its contact is no reference, which would need a third.
 */
const contactKeys = ({ isSqlite }: Dialect) =>
  isSqlite
    ? []
    : [
        // Building the indexes of many contacts takes longer than a statement of a request may.
        `SET LOCAL statement_timeout = 0`,
        `ALTER TABLE list_members DROP CONSTRAINT list_members_contact_id_fkey`,
        `ALTER TABLE contacts DROP CONSTRAINT contacts_pkey`,
        `ALTER TABLE contacts DROP CONSTRAINT contacts_account_identity_key`,
        `DROP INDEX contacts_in_order`,
        `ALTER TABLE contacts ALTER COLUMN account TYPE TEXT COLLATE "C", ALTER COLUMN identity TYPE TEXT COLLATE "C"`,
        `ALTER TABLE contacts ADD PRIMARY KEY (account, identity)`,
        `CREATE UNIQUE INDEX contacts_in_order ON contacts (account, id)`,
        `CREATE FUNCTION contacts_leave_lists() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN DELETE FROM list_members WHERE contact_id = OLD.id; RETURN NULL; END'`,
        `CREATE TRIGGER contacts_leave_lists AFTER DELETE ON contacts
          FOR EACH ROW EXECUTE FUNCTION contacts_leave_lists()`
      ]

const folded = (name: string): string => name.toLowerCase().normalize("NFC")

const longestName = 200

/** A free name: with `_2` at its end, or the next number. */
const numbered = (name: string, taken: ReadonlyMap<string, unknown>): string => {
  for (let number = 2; ; number++) {
    const end = `_${number}`
    // A name is not cut within a character.
    const free = name.slice(0, longestName - end.length).replace(/[\uD800-\uDBFF]$/, "") + end
    if (!taken.has(folded(free))) return free
  }
}

/** Fields without equal names: of equal values or an empty one only one stays, and the second of two others is renamed. */
const separated = (fields: Readonly<Record<string, string>>) => {
  const names = Object.keys(fields)
  const taken = new Map<string, string>()
  for (const name of names) if (!taken.has(folded(name))) taken.set(folded(name), name)
  if (taken.size === names.length) return undefined
  const values = new Map<string, string>()
  let renamed = 0
  for (const [name, value] of Object.entries(fields)) {
    const first = taken.get(folded(name)) ?? name
    const known = values.get(first)
    if (known === undefined || known === "") values.set(first, value)
    else if (value !== "" && value !== known) {
      const other = numbered(name, taken)
      taken.set(folded(other), other)
      values.set(other, value)
      renamed++
    }
  }
  return { fields: Object.fromEntries(values), joined: names.length - values.size, renamed }
}

interface Row {
  readonly account: string
  readonly id: number | string
  readonly custom_fields: string
}

const batch = 1000

/** Receives the number of contacts that a migration has rewritten (default: nobody does). */
export const RewrittenContacts = Context.Reference<(contacts: number) => void>("@roster/server/RewrittenContacts", {
  defaultValue: () => () => {}
})

/**
 * Joins or renames the custom fields of every contact that have equal names, as rules took them for one. The contacts are
 * read in batches by their key, in the transaction of the migration, so that a kill leaves nothing behind. On PostgreSQL
 * nobody writes contacts meanwhile. (docs/decisions/records.md)
 */
const equalFieldNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { lock, written } = byEngine(sql, {
    sqlite: () => ({
      lock: Effect.void,
      written: (rows: string) => sql`(SELECT value ->> 'account' AS account, value ->> 'id' AS id,
        value ->> 'custom_fields' AS custom_fields FROM json_each(${rows})) AS given`
    }),
    postgres: () => ({
      lock: Effect.asVoid(sql`LOCK TABLE contacts IN SHARE ROW EXCLUSIVE MODE`),
      written: (rows: string) =>
        sql`json_to_recordset(${rows}::json) AS given (account text, id bigint, custom_fields text)`
    })
  })
  yield* lock
  const counts = { contacts: 0, joined: 0, renamed: 0 }
  let last: Pick<Row, "account" | "id"> | undefined = { account: "", id: 0 }
  while (last !== undefined) {
    const rows: ReadonlyArray<Row> = yield* sql<Row>`
      SELECT account, id, custom_fields FROM contacts WHERE (account, id) > (${last.account}, ${last.id})
      ORDER BY account, id LIMIT ${sql.literal(String(batch))}`
    const changed = rows.flatMap((row) => {
      // A store writes nothing but an object of texts.
      const result = separated(JSON.parse(row.custom_fields) as Record<string, string>)
      if (result === undefined) return []
      counts.contacts++
      counts.joined += result.joined
      counts.renamed += result.renamed
      return [{ ...row, custom_fields: JSON.stringify(result.fields) }]
    })
    if (changed.length > 0) {
      yield* sql`
        UPDATE contacts SET custom_fields = given.custom_fields FROM ${written(JSON.stringify(changed))}
        WHERE contacts.account = given.account AND contacts.id = given.id`
    }
    last = rows[batch - 1]
  }
  if (counts.contacts > 0) {
    ;(yield* RewrittenContacts)(counts.contacts)
    yield* Effect.logInfo(
      "Custom fields whose names differ only in case or accents became one, or the second has a number now."
    ).pipe(Effect.annotateLogs(counts))
  }
})

/** The rows that are locked in place of accounts; on SQLite a transaction that writes locks the whole store. */
const accountLocks = ({ isSqlite }: Dialect) =>
  isSqlite ? [] : [`CREATE TABLE account_locks (account TEXT PRIMARY KEY)`]

/** The key that asked for an export; `NULL` for the owner of the store. */
const exportCreators = () => [`ALTER TABLE jobs ADD COLUMN creator BIGINT`]

/** The digests of the secrets in the links of exports, in place of the secrets. */
const linkDigests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes } = byEngine(sql, { sqlite: () => sqlite, postgres: () => postgres })
  yield* sql.unsafe(`ALTER TABLE jobs ADD COLUMN link_digest ${bytes}`)
  const linked = yield* sql<{ readonly number: number; readonly file_key: string }>`
    SELECT number, file_key FROM jobs WHERE file_key IS NOT NULL`
  for (const { file_key, number } of linked) {
    yield* sql`UPDATE jobs SET link_digest = ${createHash("sha256").update(file_key).digest()}, file_key = NULL WHERE number = ${number}`
  }
  yield* sql.unsafe(`CREATE UNIQUE INDEX jobs_by_link ON jobs (link_digest)`)
  yield* sql.unsafe(`ALTER TABLE jobs ADD COLUMN downloaded BIGINT`)
})

/** What names a store wherever it is: a random id, which its backups have too. */
const storeId = ({ isSqlite }: Dialect) => [
  `CREATE TABLE stores (id TEXT PRIMARY KEY)`,
  `INSERT INTO stores (id) SELECT ${isSqlite ? "lower(hex(randomblob(16)))" : "replace(gen_random_uuid()::text, '-', '')"}`
]

/** Drops the addresses of imports, which count repeated ones as they read the file. */
const noAddressLists = () => [`DROP TABLE job_address_lists`]

/**
 * Runs, and what they changed, many changes in a row under the number of the last. `work` tells what a run works on, and of
 * it one is open; `holder` is the
 * process that is at work on it, where the store is in that; `goes` is when the run may be removed. No foreign key ties the changes to their run, since they are removed in
 * pieces. `run` of a job is the one that it writes for.
 */
const runs = ({ id, isSqlite }: Dialect) => [
  `CREATE TABLE runs (
      number ${id},
      account TEXT NOT NULL,
      id TEXT NOT NULL,
      command TEXT NOT NULL,
      about TEXT,
      input TEXT,
      work TEXT,
      undoes TEXT,
      key_id BIGINT,
      key_name TEXT,
      began BIGINT NOT NULL,
      ended BIGINT,
      lease BIGINT NOT NULL,
      holder TEXT,
      goes BIGINT NOT NULL,
      changes BIGINT NOT NULL DEFAULT 0,
      created BIGINT NOT NULL DEFAULT 0,
      changed BIGINT NOT NULL DEFAULT 0,
      deleted BIGINT NOT NULL DEFAULT 0,
      bytes BIGINT NOT NULL DEFAULT 0,
      step TEXT,
      UNIQUE (account, id)
    )`,
  `CREATE INDEX runs_in_order ON runs (account, number)`,
  `CREATE INDEX runs_by_age ON runs (goes)`,
  `CREATE UNIQUE INDEX runs_open ON runs (account, work) WHERE ended IS NULL AND work IS NOT NULL`,
  `CREATE TABLE run_changes (
      run BIGINT NOT NULL,
      number BIGINT NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (run, number)
    ) ${isSqlite ? "WITHOUT ROWID" : ""}`,
  `ALTER TABLE jobs ADD COLUMN run BIGINT`
]

const consentColumns = ["consent_date", "consent_ip", "consent_tracking"]

/** A row for each status that is given, of a new contact if it stops mail, and for each part of a consent that changes, whoever writes. */
const statusChanges = ({ id, isSqlite }: Dialect) => {
  const differs = (column: string) => `OLD.${column} ${isSqlite ? "IS NOT" : "IS DISTINCT FROM"} NEW.${column}`
  const isGiven = `(OLD.status <> NEW.status OR ${differs("status_change_date")})`
  const clock = isSqlite ? "CAST(strftime('%s', 'now') AS INTEGER)" : "extract(epoch FROM now())::bigint"
  // Other programs may change a status and not its date.
  const dated = (column: string) =>
    `CASE WHEN ${differs(column)} THEN coalesce(NEW.${column}, ${clock}) ELSE ${clock} END`
  const writer = isSqlite
    ? "key_name, run FROM change_writer"
    : "nullif(current_setting('roster.key_name', true), ''), nullif(current_setting('roster.run', true), '')"
  const insert = (column: string, date: string, when: string) => `
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, '${column}', OLD.${column}, NEW.${column}, ${dated(date)}, ${writer} WHERE ${when};`
  const inserts = [
    insert("status", "status_change_date", isGiven),
    ...consentColumns.map((column) => insert(column, "date_updated", differs(column)))
  ].join("")
  const watched = `status, status_change_date, ${consentColumns.join(", ")}`
  const isWatched = [isGiven, ...consentColumns.map(differs)].join(" OR ")
  const stopsMail = "NEW.status NOT IN ('Active', 'Engaged', 'Transactional')"
  const first = `
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'status', NULL, NEW.status, NEW.date_added, ${writer};`
  return [
    `CREATE TABLE status_changes (
      number ${id},
      account TEXT NOT NULL,
      identity TEXT NOT NULL,
      field TEXT NOT NULL,
      was TEXT,
      becomes TEXT,
      time BIGINT NOT NULL,
      key_name TEXT,
      run TEXT
    )`,
    `CREATE INDEX status_changes_by_contact ON status_changes (account, identity, number)`,
    ...(isSqlite
      ? [
          `CREATE TABLE change_writer (id INTEGER PRIMARY KEY CHECK (id = 1), key_name TEXT, run TEXT)`,
          `INSERT INTO change_writer (id) VALUES (1)`,
          `CREATE TRIGGER contacts_status_changes AFTER UPDATE OF ${watched} ON contacts WHEN ${isWatched} BEGIN ${inserts} END`,
          `CREATE TRIGGER contacts_first_status AFTER INSERT ON contacts WHEN ${stopsMail} BEGIN ${first} END`
        ]
      : [
          `CREATE FUNCTION note_status_changes() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN ${inserts} RETURN NULL; END $$`,
          `CREATE TRIGGER contacts_status_changes AFTER UPDATE OF ${watched} ON contacts
          FOR EACH ROW WHEN (${isWatched}) EXECUTE FUNCTION note_status_changes()`,
          `CREATE FUNCTION note_first_status() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN ${first} RETURN NULL; END $$`,
          `CREATE TRIGGER contacts_first_status AFTER INSERT ON contacts
          FOR EACH ROW WHEN (${stopsMail}) EXECUTE FUNCTION note_first_status()`
        ])
  ]
}

/** What the interface tells of a list. Those that are older have no date, and an id from now on. */
const listDetails = ({ isSqlite }: Dialect) => {
  const hex = (bytes: number) => `hex(randomblob(${bytes}))`
  const id = isSqlite
    ? `lower(${hex(4)} || '-' || ${hex(2)} || '-4' || substr(${hex(2)}, 2) || '-a' || substr(${hex(2)}, 2) || '-' || ${hex(6)})`
    : "gen_random_uuid()::text"
  return [
    `ALTER TABLE lists ADD COLUMN public_id TEXT`,
    `ALTER TABLE lists ADD COLUMN date_added BIGINT`,
    `ALTER TABLE lists ADD COLUMN allow_unsubscribe INTEGER NOT NULL DEFAULT 1`,
    `UPDATE lists SET public_id = ${id}`
  ]
}

/** The rules that the persons of an account have given names. */
const savedRules = ({ isSqlite }: Dialect) => [
  `CREATE TABLE saved_rules (
      account TEXT NOT NULL,
      name TEXT NOT NULL,
      rule TEXT NOT NULL,
      PRIMARY KEY (account, name)
    ) ${isSqlite ? "WITHOUT ROWID" : ""}`
]

/** How the page shows the contacts of a saved rule. */
const savedViews = () => [`ALTER TABLE saved_rules ADD COLUMN view TEXT`]

/**
 * Lets the audit trail tell who wrote contacts: `Wrote` is one entry a run, and one of each key and hour for writes without a run. Such an
 * entry only grows; that of a run grows with it. It goes after 400 days, as a change does.
 */
const writtenContacts = ({ isSqlite }: Dialect) => {
  const counts = ["created", "changed", "deleted", "gained", "lost"]
  const others = [
    "number",
    "time",
    "account",
    "actor",
    "actor_name",
    "actor_hint",
    "peer",
    "operation",
    "subject",
    "outcome",
    "details"
  ]
  const same = isSqlite ? "IS" : "IS NOT DISTINCT FROM"
  const grows = [
    "OLD.outcome = 'Wrote'",
    ...others.map((column) => `NEW.${column} ${same} OLD.${column}`),
    ...counts.map((column) => `NEW.${column} >= OLD.${column}`)
  ].join(" AND ")
  const now = isSqlite ? "unixepoch()" : "extract(epoch FROM now())"
  const mayGo = `CASE WHEN OLD.outcome IN ('Done', 'Wrote') THEN OLD.time <= ${now} - 34560000
    ELSE OLD.time <= ${now} - 7776000
      OR (OLD.time <= ${now} - 86400 AND OLD.number <= (SELECT max(number) FROM audit_entries) - 100000) END`
  const most = isSqlite ? "max" : "greatest"
  const grow = `UPDATE audit_entries SET ${counts.map((column) => `${column} = ${most}(${column}, NEW.${column})`).join(", ")}
    WHERE number = NEW.audit;`
  const watched = `AFTER UPDATE OF ${counts.join(", ")} ON runs`
  return [
    ...counts.map((column) => `ALTER TABLE audit_entries ADD COLUMN ${column} BIGINT`),
    ...["gained", "lost"].map((column) => `ALTER TABLE runs ADD COLUMN ${column} BIGINT NOT NULL DEFAULT 0`),
    `ALTER TABLE runs ADD COLUMN audit BIGINT`,
    `DROP INDEX audit_refusals_by_age`,
    `CREATE INDEX audit_refusals_by_age ON audit_entries (time) WHERE outcome NOT IN ('Done', 'Wrote')`,
    `CREATE INDEX audit_writes_by_age ON audit_entries (time) WHERE outcome = 'Wrote'`,
    `CREATE INDEX audit_by_key ON audit_entries (actor_name, number) WHERE actor = 'Key'`,
    `CREATE UNIQUE INDEX audit_writes_of_hour ON audit_entries (account, actor_name, actor_hint, time)
      WHERE outcome = 'Wrote' AND subject IS NULL`,
    ...(isSqlite
      ? [
          `DROP TRIGGER audit_entries_no_update`,
          `CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries WHEN NOT (${grows})
            BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END`,
          `DROP TRIGGER audit_entries_no_delete`,
          `CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries WHEN NOT (${mayGo})
            BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END`,
          `CREATE TRIGGER runs_are_audited ${watched} WHEN NEW.audit IS NOT NULL BEGIN ${grow} END`
        ]
      : [
          `CREATE OR REPLACE FUNCTION audit_entries_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
            IF TG_OP = 'DELETE' THEN
              IF (${mayGo}) THEN RETURN OLD; END IF;
            ELSIF TG_OP = 'UPDATE' THEN
              IF (${grows}) THEN RETURN NEW; END IF;
            END IF;
            RAISE EXCEPTION 'audit_entries is only added to';
          END$$`,
          `CREATE FUNCTION audit_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${grow} RETURN NULL; END $$`,
          `CREATE TRIGGER runs_are_audited ${watched}
            FOR EACH ROW WHEN (NEW.audit IS NOT NULL) EXECUTE FUNCTION audit_run()`
        ])
  ]
}

/**
 * Adds what the texts of the migrations 21 and 22 did not have at first, to the stores that ran them then: who holds a run, and the note
 * of the status with which a contact is added.
 */
const completeRuns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const first = (writer: string) => `
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'status', NULL, NEW.status, NEW.date_added, ${writer};`
  const stopsMail = "NEW.status NOT IN ('Active', 'Engaged', 'Transactional')"
  const statements = yield* byEngine(sql, {
    sqlite: () =>
      Effect.map(sql`SELECT 1 FROM pragma_table_info('runs') WHERE name = 'holder'`, (found) => [
        ...(found.length > 0 ? [] : [`ALTER TABLE runs ADD COLUMN holder TEXT`]),
        `CREATE TRIGGER IF NOT EXISTS contacts_first_status AFTER INSERT ON contacts WHEN ${stopsMail} BEGIN ${first("key_name, run FROM change_writer")} END`
      ]),
    postgres: () => {
      const writer =
        "nullif(current_setting('roster.key_name', true), ''), nullif(current_setting('roster.run', true), '')"
      return Effect.succeed([
        `ALTER TABLE runs ADD COLUMN IF NOT EXISTS holder TEXT`,
        `CREATE OR REPLACE FUNCTION note_first_status() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN ${first(writer)} RETURN NULL; END $$`,
        `DROP TRIGGER IF EXISTS contacts_first_status ON contacts`,
        `CREATE TRIGGER contacts_first_status AFTER INSERT ON contacts
          FOR EACH ROW WHEN (${stopsMail}) EXECUTE FUNCTION note_first_status()`
      ])
    }
  })
  for (const statement of statements) yield* sql.unsafe(statement)
})

/** PostgreSQL would compress the parts of files, and answers that are compressed, at the cost of a third of an import. */
const uncompressedParts = ({ isSqlite }: Dialect) =>
  isSqlite
    ? []
    : [
        `ALTER TABLE job_parts ALTER COLUMN content SET STORAGE EXTERNAL`,
        `ALTER TABLE idempotent_answers ALTER COLUMN body SET STORAGE EXTERNAL`
      ]

/**
 * The numbers of accounts: `wanted` is when they were asked for, `leased_until` how long a worker counts them, `counted` when counting of
 * `content` began.
 */
const overviews = () => [
  `CREATE TABLE overviews (
      account TEXT PRIMARY KEY,
      wanted BIGINT,
      leased_until BIGINT NOT NULL DEFAULT 0,
      counted BIGINT,
      content TEXT
    )`
]

/** Runs the statements of a migration one by one, in the dialect of the store. */
const run = (statements: (dialect: Dialect) => ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dialect = byEngine(sql, { sqlite: () => sqlite, postgres: () => postgres })
    for (const statement of statements(dialect)) yield* sql.unsafe(statement)
  })

export const migrations = {
  "1_contacts": run(contacts),
  "2_credentials": run(credentials),
  "3_jobs": run(jobs),
  "4_outbox": run(outbox),
  "5_answers": run(answers),
  "6_contact_blocks": run(contactBlocks),
  "7_job_details": run(jobDetails),
  "8_credential_audit": run(credentialAudit),
  "9_job_address_lists": run(jobAddressLists),
  "10_count_after_adding": run(countAfterAdding),
  "11_account_bounds": run(accountBounds),
  "12_audit_retention": run(auditRetention),
  "13_kept_statuses": run(keptStatuses),
  "14_contact_keys": run(contactKeys),
  "15_equal_field_names": equalFieldNames,
  "16_account_locks": run(accountLocks),
  "17_export_creators": run(exportCreators),
  "18_link_digests": linkDigests,
  "19_store_id": run(storeId),
  "20_no_address_lists": run(noAddressLists),
  "21_runs": run(runs),
  "22_status_changes": run(statusChanges),
  "23_list_details": run(listDetails),
  "24_saved_rules": run(savedRules),
  "26_written_contacts": run(writtenContacts),
  "27_complete_runs": completeRuns,
  "28_uncompressed_parts": run(uncompressedParts),
  "29_overviews": run(overviews),
  "30_saved_views": run(savedViews)
}

/** What a migration rewrites of what people stored, in a sentence, if anything. One that is not judged here does not compile. */
const rewrites: Readonly<Record<keyof typeof migrations, string | undefined>> = {
  "1_contacts": undefined,
  "2_credentials": undefined,
  "3_jobs": undefined,
  "4_outbox": undefined,
  "5_answers": undefined,
  "6_contact_blocks": undefined,
  "7_job_details": undefined,
  "8_credential_audit": undefined,
  "9_job_address_lists": undefined,
  "10_count_after_adding": undefined,
  "11_account_bounds": undefined,
  "12_audit_retention": undefined,
  "13_kept_statuses": undefined,
  "14_contact_keys": undefined,
  "15_equal_field_names":
    "Custom fields of a contact whose names differ only in case or accents become one; if their values differ, the later " +
    "one gets a number at its name: city becomes city_2.",
  "16_account_locks": undefined,
  "17_export_creators": undefined,
  "18_link_digests": "Links to exports stay valid; the store keeps their digests in place of their secrets.",
  "19_store_id": undefined,
  "20_no_address_lists": undefined,
  "21_runs": undefined,
  "22_status_changes": undefined,
  "23_list_details": "Each list gets an id.",
  "24_saved_rules": undefined,
  "26_written_contacts": undefined,
  "27_complete_runs": undefined,
  "28_uncompressed_parts": undefined,
  "29_overviews": undefined,
  "30_saved_views": undefined
}

/** What is rewritten of a store whose last migration this is, in sentences. */
export const rewritesSince = (migration: number): ReadonlyArray<string> =>
  Object.entries(rewrites).flatMap(([name, words]) =>
    words !== undefined && Number.parseFloat(name) > migration ? [words] : []
  )

/** The number of the last migration, which every store of this version has run. */
export const latestMigration = Math.max(...Object.keys(migrations).map(Number.parseFloat))

/** Why a store of a later version is refused. */
export const newer = (migration: number) =>
  `It was written by a newer version of Roster: its tables are at step ${migration}, and this version knows ` +
  `${latestMigration}. Use that version.`

/** The last migration of the store, or 0. */
export const lastMigration = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* byEngine(sql, {
    sqlite: () => sql`SELECT 1 AS found FROM sqlite_schema WHERE name = 'migrations'`,
    postgres: () => sql`SELECT 1 AS found WHERE to_regclass('migrations') IS NOT NULL`
  })
  if (table === undefined) return 0
  const [row] = yield* sql<{ readonly latest: number | null }>`SELECT max(migration_id) AS latest FROM migrations`
  return Number(row?.latest ?? 0)
})

/** Runs the missing migrations up to a number. One that fails leaves nothing behind. */
export const migrateTo = (latest: number) =>
  Migrator.make({})({
    table: "migrations",
    loader: Migrator.fromRecord(
      Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseFloat(name) <= latest))
    )
  })

/** Brings the tables of a store up to this version. */
export const migrate = migrateTo(latestMigration)
