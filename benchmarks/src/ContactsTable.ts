/**
 * The table of the references that are written by hand: the columns, the key and the merge of a store, without what a store
 * has beside them.
 */
import type { DatabaseSync } from "node:sqlite"

/** The columns of a store's contacts, and what makes two of them the same. */
export const contactsTable = `
  CREATE TABLE contacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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

/** Sets a database up as a store is: each commit is synced before it counts. */
export const createTable = (database: DatabaseSync): void =>
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 20000;
    ${contactsTable}`)

/** Adds a contact or merges it into the one that is there. */
export const upsert = `
  INSERT INTO contacts (account, identity, email, status, first_name, last_name, custom_fields, source, date_added)
  VALUES (?, ?, ?, 'Active', ?, ?, ?, ?, ?)
  ON CONFLICT (account, identity) DO UPDATE SET
    first_name = coalesce(excluded.first_name, contacts.first_name),
    last_name = coalesce(excluded.last_name, contacts.last_name),
    custom_fields = json_patch(contacts.custom_fields, excluded.custom_fields),
    date_updated = ?`
