BEGIN TRANSACTION;
CREATE TABLE audit_entries (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
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
    );
INSERT INTO "audit_entries" VALUES(1,1795971530,'','Owner','','',NULL,'securityApikeysPost','ci','Done','{"levelsAdded":["ViewContacts"]}');
CREATE TABLE contact_blocks (
          account TEXT NOT NULL,
          block INTEGER NOT NULL,
          contacts INTEGER NOT NULL,
          last INTEGER NOT NULL,
          PRIMARY KEY (account, block)
        ) WITHOUT ROWID;
INSERT INTO "contact_blocks" VALUES('',0,4,4);
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
    );
INSERT INTO "contacts" VALUES(1,'','ann@example.com','Ann@Example.com','Active','Ann','Müller','{"City":"Bonn","plan":"pro"}',NULL,NULL,NULL,'ContactApi',1795971523,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(2,'','bob@example.com','bob@example.com','Unsubscribed','Bob',NULL,'{"City":"Oslo"}',NULL,NULL,NULL,'ContactApi',1795971523,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(3,'','cleo@example.com','cleo@example.com','Bounced','Cleo','Ibsen','{"plan":"free"}',NULL,NULL,NULL,'ContactApi',1795971523,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(4,'','dan@example.com','dan@example.com','Active',NULL,NULL,'{"Stadt":"Köln"}',NULL,NULL,NULL,'ContactApi',1795971527,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE credential_uses (
      credential BIGINT NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
      level TEXT NOT NULL,
      last_use BIGINT NOT NULL,
      PRIMARY KEY (credential, level)
    );
CREATE TABLE credentials (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      account TEXT NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      identity TEXT NOT NULL,
      access_levels TEXT NOT NULL,
      ip_ranges TEXT NOT NULL,
      date_created BIGINT NOT NULL,
      last_use BIGINT,
      expires BIGINT,
      secret_digest BLOB NOT NULL UNIQUE,
      secret_hint TEXT NOT NULL
    );
INSERT INTO "credentials" VALUES(1,'','ApiKey','ci','ci','["ViewContacts"]','[]',1795971530,NULL,NULL,X'335E1DD2853F24B1102A5F5B2B44AEED8DE1083D0DE00B4AF57A65770397C371','roster_…sza2');
CREATE TABLE idempotent_answers (
      account TEXT NOT NULL,
      call_key TEXT NOT NULL,
      request_digest BLOB NOT NULL,
      status INTEGER NOT NULL,
      body BLOB NOT NULL,
      created BIGINT NOT NULL, running BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (account, call_key)
    );
CREATE TABLE job_address_lists (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      identities TEXT NOT NULL
    );
CREATE TABLE job_kept_statuses (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      line BIGINT NOT NULL,
      status TEXT NOT NULL,
      PRIMARY KEY (job, line)
    ) WITHOUT ROWID;
CREATE TABLE job_parts (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      part INTEGER NOT NULL,
      content BLOB NOT NULL,
      PRIMARY KEY (job, part)
    );
CREATE TABLE job_rejections (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      line BIGINT NOT NULL,
      reason TEXT NOT NULL, cells TEXT,
      PRIMARY KEY (job, line)
    );
CREATE TABLE jobs (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
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
    , duplicates BIGINT NOT NULL DEFAULT 0, rejected_kept BIGINT NOT NULL DEFAULT 0, rows_total BIGINT, header TEXT, ended BIGINT, attempts INTEGER NOT NULL DEFAULT 0, furthest BIGINT NOT NULL DEFAULT 0, turn BIGINT NOT NULL DEFAULT 0, rejected_size BIGINT NOT NULL DEFAULT 0, bytes BIGINT NOT NULL DEFAULT 0, statuses_kept BIGINT NOT NULL DEFAULT 0, creator BIGINT, link_digest BLOB, downloaded BIGINT);
CREATE TABLE list_members (
      list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
      contact_id BIGINT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
      PRIMARY KEY (list_id, contact_id)
    );
INSERT INTO "list_members" VALUES(1,1);
INSERT INTO "list_members" VALUES(1,2);
INSERT INTO "list_members" VALUES(1,3);
CREATE TABLE lists (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      account TEXT NOT NULL,
      name TEXT NOT NULL,
      UNIQUE (account, name)
    );
INSERT INTO "lists" VALUES(1,'','News');
CREATE TABLE "migrations" (
  migration_id integer PRIMARY KEY NOT NULL,
  created_at datetime NOT NULL DEFAULT current_timestamp,
  name VARCHAR(255) NOT NULL
);
INSERT INTO "migrations" VALUES(1,'2026-11-29 16:58:43','contacts');
INSERT INTO "migrations" VALUES(2,'2026-11-29 16:58:43','credentials');
INSERT INTO "migrations" VALUES(3,'2026-11-29 16:58:43','jobs');
INSERT INTO "migrations" VALUES(4,'2026-11-29 16:58:43','outbox');
INSERT INTO "migrations" VALUES(5,'2026-11-29 16:58:43','answers');
INSERT INTO "migrations" VALUES(6,'2026-11-29 16:58:43','contact_blocks');
INSERT INTO "migrations" VALUES(7,'2026-11-29 16:58:43','job_details');
INSERT INTO "migrations" VALUES(8,'2026-11-29 16:58:43','credential_audit');
INSERT INTO "migrations" VALUES(9,'2026-11-29 16:58:43','job_address_lists');
INSERT INTO "migrations" VALUES(10,'2026-11-29 16:58:43','count_after_adding');
INSERT INTO "migrations" VALUES(11,'2026-11-29 16:58:43','account_bounds');
INSERT INTO "migrations" VALUES(12,'2026-11-29 16:58:43','audit_retention');
INSERT INTO "migrations" VALUES(13,'2026-11-29 16:58:43','kept_statuses');
INSERT INTO "migrations" VALUES(14,'2026-11-29 16:58:43','contact_keys');
INSERT INTO "migrations" VALUES(15,'2026-11-29 16:58:43','equal_field_names');
INSERT INTO "migrations" VALUES(16,'2026-11-29 16:58:43','account_locks');
INSERT INTO "migrations" VALUES(17,'2026-11-29 16:58:43','export_creators');
INSERT INTO "migrations" VALUES(18,'2026-11-29 16:58:43','link_digests');
CREATE TABLE outbox (
      message_id TEXT PRIMARY KEY,
      transaction_id TEXT NOT NULL,
      account TEXT NOT NULL,
      message TEXT NOT NULL,
      created BIGINT NOT NULL
    , bytes BIGINT NOT NULL DEFAULT 0);
CREATE INDEX list_members_by_contact ON list_members (contact_id);
CREATE UNIQUE INDEX api_keys_by_name ON credentials (account, identity) WHERE kind = 'ApiKey';
CREATE UNIQUE INDEX smtp_by_name ON credentials (identity) WHERE kind = 'Smtp';
CREATE INDEX jobs_by_state ON jobs (state, number);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created);
CREATE INDEX contacts_in_order ON contacts (account, id);
CREATE INDEX jobs_by_account ON jobs (account, number);
CREATE INDEX jobs_by_end ON jobs (ended) WHERE ended IS NOT NULL;
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
          BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END;
CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
          WHEN EXISTS (SELECT 1 FROM audit_entries WHERE number = NEW.number)
          BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END;
CREATE INDEX job_address_lists_by_job ON job_address_lists (job);
CREATE TRIGGER contact_blocks_remove AFTER DELETE ON contacts BEGIN
          UPDATE contact_blocks SET contacts = contacts - 1
            WHERE account = OLD.account AND block = OLD.id >> 10 AND last >= OLD.id;
          DELETE FROM contact_blocks WHERE account = OLD.account AND block = OLD.id >> 10 AND contacts = 0;
        END;
CREATE INDEX jobs_open ON jobs (account) WHERE ended IS NULL;
CREATE INDEX jobs_with_files ON jobs (account, kind, bytes) WHERE bytes > 0;
CREATE INDEX jobs_by_turn ON jobs (turn);
CREATE INDEX jobs_by_turn_of_account ON jobs (account, turn);
CREATE INDEX outbox_by_account ON outbox (account, bytes);
CREATE INDEX idempotent_answers_in_order ON idempotent_answers (account, running);
CREATE INDEX audit_refusals_by_age ON audit_entries (time) WHERE outcome <> 'Done';
CREATE INDEX audit_changes_by_age ON audit_entries (time) WHERE outcome = 'Done';
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries WHEN NOT (CASE WHEN OLD.outcome = 'Done' THEN OLD.time <= unixepoch() - 34560000
    ELSE OLD.time <= unixepoch() - 7776000
      OR (OLD.time <= unixepoch() - 86400 AND OLD.number <= (SELECT max(number) FROM audit_entries) - 100000) END)
            BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END;
CREATE UNIQUE INDEX jobs_by_link ON jobs (link_digest);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('job_address_lists',0);
INSERT INTO "sqlite_sequence" VALUES('contacts',4);
INSERT INTO "sqlite_sequence" VALUES('lists',1);
INSERT INTO "sqlite_sequence" VALUES('credentials',1);
INSERT INTO "sqlite_sequence" VALUES('audit_entries',1);
COMMIT;
