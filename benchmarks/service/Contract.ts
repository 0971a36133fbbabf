/**
 * What the servers that Roster is measured against have in common: the tables, the statements and the records. They are
 * what one would write by hand for the same calls: each key looked up by its digest, a merge on the unique address, one
 * transaction synced to the disk for each request that writes.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { contactsTable } from "../src/ContactsTable.ts"
import { argument } from "../src/Trial.ts"

export interface Payload {
  readonly Email: string
  readonly Status?: string
  readonly FirstName?: string
  readonly LastName?: string
  readonly CustomFields?: Readonly<Record<string, string>>
}

type Row = Readonly<Record<string, unknown>>

const time = (seconds: unknown): string | null =>
  typeof seconds === "number" ? new Date(seconds * 1000).toISOString().slice(0, 19) + "Z" : null

/** A row as the interface writes it. */
export const contactOf = (row: Row) => ({
  Email: row["email"],
  Status: row["status"],
  FirstName: row["first_name"] ?? undefined,
  LastName: row["last_name"] ?? undefined,
  CustomFields: JSON.parse(String(row["custom_fields"])),
  Consent:
    row["consent_ip"] === null && row["consent_date"] === null && row["consent_tracking"] === null
      ? undefined
      : {
          ConsentIP: row["consent_ip"] ?? undefined,
          ConsentDate: time(row["consent_date"]) ?? undefined,
          ConsentTracking: row["consent_tracking"] ?? undefined
        },
  Source: row["source"],
  DateAdded: time(row["date_added"]),
  DateUpdated: time(row["date_updated"]),
  StatusChangeDate: time(row["status_change_date"]),
  Activity: {
    TotalSent: row["total_sent"],
    TotalOpened: row["total_opened"],
    TotalClicked: row["total_clicked"],
    TotalFailed: row["total_failed"],
    LastSent: time(row["last_sent"]),
    LastOpened: time(row["last_opened"]),
    LastClicked: time(row["last_clicked"]),
    LastFailed: time(row["last_failed"]),
    LastIP: row["last_ip"] ?? undefined,
    ErrorCode: row["error_code"],
    FriendlyErrorMessage: row["friendly_error_message"] ?? undefined
  }
})

export const digestOf = (key: string): Buffer => createHash("sha256").update(key).digest()

/** Opens a fresh store under `--store`, and leaves the key to it beside it. */
export const openStore = () => {
  const file = argument("store")
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 8000;
    CREATE TABLE keys (digest BLOB PRIMARY KEY, account TEXT NOT NULL);
    ${contactsTable}`)
  const key = randomBytes(32).toString("hex")
  database.prepare("INSERT INTO keys VALUES (?, '')").run(digestOf(key))
  writeFileSync(`${file}.key`, key)

  const find = database.prepare("SELECT * FROM contacts WHERE account = ? AND identity = ?")
  const findKey = database.prepare("SELECT digest, account FROM keys WHERE digest = ?")
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const rollback = database.prepare("ROLLBACK")
  const upsert = database.prepare(`
    INSERT INTO contacts (account, identity, email, status, first_name, last_name, custom_fields, source, date_added)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'ContactApi', ?)
    ON CONFLICT (account, identity) DO UPDATE SET
      first_name = coalesce(excluded.first_name, first_name),
      last_name = coalesce(excluded.last_name, last_name),
      custom_fields = json_patch(custom_fields, excluded.custom_fields),
      status = CASE WHEN ? THEN excluded.status ELSE status END,
      status_change_date = CASE WHEN ? AND excluded.status <> status THEN excluded.date_added ELSE status_change_date END,
      date_updated = excluded.date_added
    RETURNING *`)

  return {
    /** The account that a key belongs to. */
    accountOf: (key: unknown): string | undefined => {
      if (typeof key !== "string") return undefined
      const digest = digestOf(key)
      const row = findKey.get(digest)
      const known = row?.["digest"]
      return known instanceof Uint8Array && timingSafeEqual(known, digest) ? String(row?.["account"]) : undefined
    },
    get: (account: string, email: string) => {
      const row = find.get(account, email.trim().toLowerCase())
      return row === undefined ? undefined : contactOf(row)
    },
    add: (account: string, payloads: ReadonlyArray<Payload>) => {
      const now = Math.floor(Date.now() / 1000)
      const contacts: Array<ReturnType<typeof contactOf>> = []
      begin.run()
      try {
        for (const payload of payloads) {
          const email = payload.Email.trim()
          const given = payload.Status === undefined ? 0 : 1
          const row = upsert.get(
            account,
            email.toLowerCase(),
            email,
            payload.Status ?? "Active",
            payload.FirstName ?? null,
            payload.LastName ?? null,
            JSON.stringify(payload.CustomFields ?? {}),
            now,
            given,
            given
          )
          if (row !== undefined) contacts.push(contactOf(row))
        }
        commit.run()
      } catch (cause) {
        if (database.isTransaction) rollback.run()
        throw cause
      }
      return contacts
    }
  }
}
