BEGIN TRANSACTION;
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
INSERT INTO "contacts" VALUES(1,'','ann@example.com','Ann@Example.com','Active','Ann','Müller','{"City":"Bonn","city":"Rome","plan":"pro"}',NULL,NULL,NULL,'ContactApi',1795971055,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(2,'','bob@example.com','bob@example.com','Unsubscribed','Bob',NULL,'{"City":"Oslo","city":"Oslo"}',NULL,NULL,NULL,'ContactApi',1795971055,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(3,'','cleo@example.com','cleo@example.com','Bounced','Cleo','Ibsen','{"city":"Lima","plan":"free"}',NULL,NULL,NULL,'ContactApi',1795971055,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(4,'','dan@example.com','dan@example.com','Active',NULL,NULL,'{"Stadt":"Köln"}',NULL,NULL,NULL,'ContactApi',1795971059,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "credentials" VALUES(1,'','ApiKey','ci','ci','["ViewContacts"]','[]',1795971064,NULL,NULL,X'DD51B3A826576FEE339F910724BE623F64FFCC6307CB428D63902F134E67CB76','roster_…21zs');
CREATE TABLE idempotent_answers (
      account TEXT NOT NULL,
      call_key TEXT NOT NULL,
      request_digest BLOB NOT NULL,
      status INTEGER NOT NULL,
      body BLOB NOT NULL,
      created BIGINT NOT NULL,
      PRIMARY KEY (account, call_key)
    );
CREATE TABLE job_parts (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      part INTEGER NOT NULL,
      content BLOB NOT NULL,
      PRIMARY KEY (job, part)
    );
CREATE TABLE job_rejections (
      job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
      line BIGINT NOT NULL,
      reason TEXT NOT NULL,
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
    );
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
INSERT INTO "migrations" VALUES(1,'2026-11-29 16:50:55','contacts');
INSERT INTO "migrations" VALUES(2,'2026-11-29 16:50:55','credentials');
INSERT INTO "migrations" VALUES(3,'2026-11-29 16:50:55','jobs');
INSERT INTO "migrations" VALUES(4,'2026-11-29 16:50:55','outbox');
INSERT INTO "migrations" VALUES(5,'2026-11-29 16:50:55','answers');
CREATE TABLE outbox (
      message_id TEXT PRIMARY KEY,
      transaction_id TEXT NOT NULL,
      account TEXT NOT NULL,
      message TEXT NOT NULL,
      created BIGINT NOT NULL
    );
CREATE INDEX list_members_by_contact ON list_members (contact_id);
CREATE UNIQUE INDEX api_keys_by_name ON credentials (account, identity) WHERE kind = 'ApiKey';
CREATE UNIQUE INDEX smtp_by_name ON credentials (identity) WHERE kind = 'Smtp';
CREATE INDEX jobs_by_state ON jobs (state, number);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('lists',1);
INSERT INTO "sqlite_sequence" VALUES('contacts',4);
INSERT INTO "sqlite_sequence" VALUES('credentials',1);
COMMIT;
