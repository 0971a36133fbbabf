/** The table of the scripts that are written by hand, on PostgreSQL. */
import { contactsTable } from "../src/ContactsTable.ts"

/** The same columns and the same key as on SQLite. */
export const table = contactsTable.replace(
  "INTEGER PRIMARY KEY AUTOINCREMENT",
  "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
)

/** What an add or an import makes of a contact that is there. */
export const merged = `
  ON CONFLICT (account, identity) DO UPDATE SET
    first_name = coalesce(excluded.first_name, contacts.first_name),
    last_name = coalesce(excluded.last_name, contacts.last_name),
    custom_fields = (contacts.custom_fields::jsonb || excluded.custom_fields::jsonb)::text,
    date_updated = excluded.date_added`
