BEGIN;
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
    , created BIGINT, changed BIGINT, deleted BIGINT, gained BIGINT, lost BIGINT);
CREATE TABLE change_writer (id INTEGER PRIMARY KEY CHECK (id = 1), key_name TEXT, run TEXT);
CREATE TABLE contact_blocks (
          account TEXT NOT NULL,
          block INTEGER NOT NULL,
          contacts INTEGER NOT NULL,
          last INTEGER NOT NULL,
          PRIMARY KEY (account, block)
        ) WITHOUT ROWID;
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
CREATE TABLE idempotent_answers (
      account TEXT NOT NULL,
      call_key TEXT NOT NULL,
      request_digest BLOB NOT NULL,
      status INTEGER NOT NULL,
      body BLOB NOT NULL,
      created BIGINT NOT NULL, running BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (account, call_key)
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
    , duplicates BIGINT NOT NULL DEFAULT 0, rejected_kept BIGINT NOT NULL DEFAULT 0, rows_total BIGINT, header TEXT, ended BIGINT, attempts INTEGER NOT NULL DEFAULT 0, furthest BIGINT NOT NULL DEFAULT 0, turn BIGINT NOT NULL DEFAULT 0, rejected_size BIGINT NOT NULL DEFAULT 0, bytes BIGINT NOT NULL DEFAULT 0, statuses_kept BIGINT NOT NULL DEFAULT 0, creator BIGINT, link_digest BLOB, downloaded BIGINT, run BIGINT);
CREATE TABLE list_members (
      list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
      contact_id BIGINT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
      PRIMARY KEY (list_id, contact_id)
    );
CREATE TABLE lists (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      account TEXT NOT NULL,
      name TEXT NOT NULL, public_id TEXT, date_added BIGINT, allow_unsubscribe INTEGER NOT NULL DEFAULT 1,
      UNIQUE (account, name)
    );
CREATE TABLE "migrations" (
  migration_id integer PRIMARY KEY NOT NULL,
  created_at datetime NOT NULL DEFAULT current_timestamp,
  name VARCHAR(255) NOT NULL
);
CREATE TABLE outbox (
      message_id TEXT PRIMARY KEY,
      transaction_id TEXT NOT NULL,
      account TEXT NOT NULL,
      message TEXT NOT NULL,
      created BIGINT NOT NULL
    , bytes BIGINT NOT NULL DEFAULT 0);
CREATE TABLE overviews (
      account TEXT PRIMARY KEY,
      wanted BIGINT,
      leased_until BIGINT NOT NULL DEFAULT 0,
      counted BIGINT,
      content TEXT
    );
CREATE TABLE run_changes (
      run BIGINT NOT NULL,
      number BIGINT NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
CREATE TABLE runs (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
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
      step TEXT, gained BIGINT NOT NULL DEFAULT 0, lost BIGINT NOT NULL DEFAULT 0, audit BIGINT,
      UNIQUE (account, id)
    );
CREATE TABLE saved_rules (
      account TEXT NOT NULL,
      name TEXT NOT NULL,
      rule TEXT NOT NULL,
      PRIMARY KEY (account, name)
    ) WITHOUT ROWID;
CREATE TABLE status_changes (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      account TEXT NOT NULL,
      identity TEXT NOT NULL,
      field TEXT NOT NULL,
      was TEXT,
      becomes TEXT,
      time BIGINT NOT NULL,
      key_name TEXT,
      run TEXT
    );
CREATE TABLE stores (id TEXT PRIMARY KEY);
INSERT INTO "audit_entries" VALUES(1,1795985440,'','Owner','','',NULL,'run','20261129T205040Z-ca029bf2','Wrote','{"command":"add"}',1,0,0,0,0);
INSERT INTO "audit_entries" VALUES(2,1795985442,'','Owner','','',NULL,'securityApikeysPost','ci','Done','{"levelsAdded":["ViewContacts"]}',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "change_writer" VALUES(1,NULL,NULL);
INSERT INTO "contact_blocks" VALUES('',0,4,4);
INSERT INTO "contacts" VALUES(1,'','ann@example.com','Ann@Example.com','Active','Ann','Müller','{"City":"Bonn","plan":"pro"}',NULL,NULL,NULL,'ContactApi',1795985438,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(2,'','bob@example.com','bob@example.com','Unsubscribed','Bob',NULL,'{"City":"Oslo"}',NULL,NULL,NULL,'ContactApi',1795985438,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(3,'','cleo@example.com','cleo@example.com','Bounced','Cleo','Ibsen','{"plan":"free"}',NULL,NULL,NULL,'ContactApi',1795985438,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "contacts" VALUES(4,'','dan@example.com','dan@example.com','Active',NULL,NULL,'{"Stadt":"Köln"}',NULL,NULL,NULL,'ContactApi',1795985440,NULL,NULL,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "credentials" VALUES(1,'','ApiKey','ci','ci','["ViewContacts"]','[]',1795985442,NULL,NULL,X'5C98517DEC5A7CADDB5AF416212D06CDB2DC67D57DF57A55CDD5E84F3E496405','roster_…9ad7');
INSERT INTO "list_members" VALUES(1,1);
INSERT INTO "list_members" VALUES(1,2);
INSERT INTO "list_members" VALUES(1,3);
INSERT INTO "lists" VALUES(1,'','News','e16343c8-4f0b-4641-a811-560a5f32594d',1795985438,1);
INSERT INTO "migrations" VALUES(1,'2026-11-29 20:50:38','contacts');
INSERT INTO "migrations" VALUES(2,'2026-11-29 20:50:38','credentials');
INSERT INTO "migrations" VALUES(3,'2026-11-29 20:50:38','jobs');
INSERT INTO "migrations" VALUES(4,'2026-11-29 20:50:38','outbox');
INSERT INTO "migrations" VALUES(5,'2026-11-29 20:50:38','answers');
INSERT INTO "migrations" VALUES(6,'2026-11-29 20:50:38','contact_blocks');
INSERT INTO "migrations" VALUES(7,'2026-11-29 20:50:38','job_details');
INSERT INTO "migrations" VALUES(8,'2026-11-29 20:50:38','credential_audit');
INSERT INTO "migrations" VALUES(9,'2026-11-29 20:50:38','job_address_lists');
INSERT INTO "migrations" VALUES(10,'2026-11-29 20:50:38','count_after_adding');
INSERT INTO "migrations" VALUES(11,'2026-11-29 20:50:38','account_bounds');
INSERT INTO "migrations" VALUES(12,'2026-11-29 20:50:38','audit_retention');
INSERT INTO "migrations" VALUES(13,'2026-11-29 20:50:38','kept_statuses');
INSERT INTO "migrations" VALUES(14,'2026-11-29 20:50:38','contact_keys');
INSERT INTO "migrations" VALUES(15,'2026-11-29 20:50:38','equal_field_names');
INSERT INTO "migrations" VALUES(16,'2026-11-29 20:50:38','account_locks');
INSERT INTO "migrations" VALUES(17,'2026-11-29 20:50:38','export_creators');
INSERT INTO "migrations" VALUES(18,'2026-11-29 20:50:38','link_digests');
INSERT INTO "migrations" VALUES(19,'2026-11-29 20:50:38','store_id');
INSERT INTO "migrations" VALUES(20,'2026-11-29 20:50:38','no_address_lists');
INSERT INTO "migrations" VALUES(21,'2026-11-29 20:50:38','runs');
INSERT INTO "migrations" VALUES(22,'2026-11-29 20:50:38','status_changes');
INSERT INTO "migrations" VALUES(23,'2026-11-29 20:50:38','list_details');
INSERT INTO "migrations" VALUES(24,'2026-11-29 20:50:38','saved_rules');
INSERT INTO "migrations" VALUES(26,'2026-11-29 20:50:38','written_contacts');
INSERT INTO "migrations" VALUES(27,'2026-11-29 20:50:38','complete_runs');
INSERT INTO "migrations" VALUES(28,'2026-11-29 20:50:38','uncompressed_parts');
INSERT INTO "migrations" VALUES(29,'2026-11-29 20:50:38','overviews');
INSERT INTO "run_changes" VALUES(1,1,'[{"email":"dan@example.com","effect":"Created","fields":{},"after":"1klvpq00i1ed3w","parts":"mtbnzd99jcajmang5j"}]');
INSERT INTO "runs" VALUES(1,'','20261129T205040Z-ca029bf2','add',NULL,NULL,NULL,NULL,NULL,NULL,1795985440,1795985440,1795985500,'sfju3pxehjp114qg6uucd3 4249.1588763 4b8f0d88-4f70-420f-a896-f0eb8fe2dd5c pid:[4026531836]',1798577440,1,1,0,0,114,NULL,0,0,1);
INSERT INTO "status_changes" VALUES(1,'','bob@example.com','status',NULL,'Unsubscribed',1795985438,NULL,NULL);
INSERT INTO "status_changes" VALUES(2,'','cleo@example.com','status',NULL,'Bounced',1795985438,NULL,NULL);
INSERT INTO "stores" VALUES('d8c6521592c874c1a145d651508f6b1d');
DELETE FROM sqlite_sequence;
INSERT INTO "sqlite_sequence" VALUES('lists',1);
INSERT INTO "sqlite_sequence" VALUES('status_changes',2);
INSERT INTO "sqlite_sequence" VALUES('contacts',4);
INSERT INTO "sqlite_sequence" VALUES('runs',1);
INSERT INTO "sqlite_sequence" VALUES('audit_entries',2);
INSERT INTO "sqlite_sequence" VALUES('credentials',1);
CREATE UNIQUE INDEX api_keys_by_name ON credentials (account, identity) WHERE kind = 'ApiKey';
CREATE INDEX audit_by_key ON audit_entries (actor_name, number) WHERE actor = 'Key';
CREATE INDEX audit_changes_by_age ON audit_entries (time) WHERE outcome = 'Done';
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries WHEN NOT (CASE WHEN OLD.outcome IN ('Done', 'Wrote') THEN OLD.time <= unixepoch() - 34560000
    ELSE OLD.time <= unixepoch() - 7776000
      OR (OLD.time <= unixepoch() - 86400 AND OLD.number <= (SELECT max(number) FROM audit_entries) - 100000) END)
            BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END;
CREATE TRIGGER audit_entries_no_replace BEFORE INSERT ON audit_entries
          WHEN EXISTS (SELECT 1 FROM audit_entries WHERE number = NEW.number)
          BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END;
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries WHEN NOT (OLD.outcome = 'Wrote' AND NEW.number IS OLD.number AND NEW.time IS OLD.time AND NEW.account IS OLD.account AND NEW.actor IS OLD.actor AND NEW.actor_name IS OLD.actor_name AND NEW.actor_hint IS OLD.actor_hint AND NEW.peer IS OLD.peer AND NEW.operation IS OLD.operation AND NEW.subject IS OLD.subject AND NEW.outcome IS OLD.outcome AND NEW.details IS OLD.details AND NEW.created >= OLD.created AND NEW.changed >= OLD.changed AND NEW.deleted >= OLD.deleted AND NEW.gained >= OLD.gained AND NEW.lost >= OLD.lost)
            BEGIN SELECT RAISE(ABORT, 'audit_entries is only added to'); END;
CREATE INDEX audit_refusals_by_age ON audit_entries (time) WHERE outcome NOT IN ('Done', 'Wrote');
CREATE INDEX audit_writes_by_age ON audit_entries (time) WHERE outcome = 'Wrote';
CREATE UNIQUE INDEX audit_writes_of_hour ON audit_entries (account, actor_name, actor_hint, time)
      WHERE outcome = 'Wrote' AND subject IS NULL;
CREATE TRIGGER contact_blocks_remove AFTER DELETE ON contacts BEGIN
          UPDATE contact_blocks SET contacts = contacts - 1
            WHERE account = OLD.account AND block = OLD.id >> 10 AND last >= OLD.id;
          DELETE FROM contact_blocks WHERE account = OLD.account AND block = OLD.id >> 10 AND contacts = 0;
        END;
CREATE TRIGGER contacts_first_status AFTER INSERT ON contacts WHEN NEW.status NOT IN ('Active', 'Engaged', 'Transactional') BEGIN 
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'status', NULL, NEW.status, NEW.date_added, key_name, run FROM change_writer; END;
CREATE INDEX contacts_in_order ON contacts (account, id);
CREATE TRIGGER contacts_status_changes AFTER UPDATE OF status, status_change_date, consent_date, consent_ip, consent_tracking ON contacts WHEN (OLD.status <> NEW.status OR OLD.status_change_date IS NOT NEW.status_change_date) OR OLD.consent_date IS NOT NEW.consent_date OR OLD.consent_ip IS NOT NEW.consent_ip OR OLD.consent_tracking IS NOT NEW.consent_tracking BEGIN 
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'status', OLD.status, NEW.status, CASE WHEN OLD.status_change_date IS NOT NEW.status_change_date THEN coalesce(NEW.status_change_date, CAST(strftime('%s', 'now') AS INTEGER)) ELSE CAST(strftime('%s', 'now') AS INTEGER) END, key_name, run FROM change_writer WHERE (OLD.status <> NEW.status OR OLD.status_change_date IS NOT NEW.status_change_date);
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'consent_date', OLD.consent_date, NEW.consent_date, CASE WHEN OLD.date_updated IS NOT NEW.date_updated THEN coalesce(NEW.date_updated, CAST(strftime('%s', 'now') AS INTEGER)) ELSE CAST(strftime('%s', 'now') AS INTEGER) END, key_name, run FROM change_writer WHERE OLD.consent_date IS NOT NEW.consent_date;
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'consent_ip', OLD.consent_ip, NEW.consent_ip, CASE WHEN OLD.date_updated IS NOT NEW.date_updated THEN coalesce(NEW.date_updated, CAST(strftime('%s', 'now') AS INTEGER)) ELSE CAST(strftime('%s', 'now') AS INTEGER) END, key_name, run FROM change_writer WHERE OLD.consent_ip IS NOT NEW.consent_ip;
    INSERT INTO status_changes (account, identity, field, was, becomes, time, key_name, run)
    SELECT NEW.account, NEW.identity, 'consent_tracking', OLD.consent_tracking, NEW.consent_tracking, CASE WHEN OLD.date_updated IS NOT NEW.date_updated THEN coalesce(NEW.date_updated, CAST(strftime('%s', 'now') AS INTEGER)) ELSE CAST(strftime('%s', 'now') AS INTEGER) END, key_name, run FROM change_writer WHERE OLD.consent_tracking IS NOT NEW.consent_tracking; END;
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created);
CREATE INDEX idempotent_answers_in_order ON idempotent_answers (account, running);
CREATE INDEX jobs_by_account ON jobs (account, number);
CREATE INDEX jobs_by_end ON jobs (ended) WHERE ended IS NOT NULL;
CREATE UNIQUE INDEX jobs_by_link ON jobs (link_digest);
CREATE INDEX jobs_by_state ON jobs (state, number);
CREATE INDEX jobs_by_turn ON jobs (turn);
CREATE INDEX jobs_by_turn_of_account ON jobs (account, turn);
CREATE INDEX jobs_open ON jobs (account) WHERE ended IS NULL;
CREATE INDEX jobs_with_files ON jobs (account, kind, bytes) WHERE bytes > 0;
CREATE INDEX list_members_by_contact ON list_members (contact_id);
CREATE INDEX outbox_by_account ON outbox (account, bytes);
CREATE TRIGGER runs_are_audited AFTER UPDATE OF created, changed, deleted, gained, lost ON runs WHEN NEW.audit IS NOT NULL BEGIN UPDATE audit_entries SET created = max(created, NEW.created), changed = max(changed, NEW.changed), deleted = max(deleted, NEW.deleted), gained = max(gained, NEW.gained), lost = max(lost, NEW.lost)
    WHERE number = NEW.audit; END;
CREATE INDEX runs_by_age ON runs (goes);
CREATE INDEX runs_in_order ON runs (account, number);
CREATE UNIQUE INDEX runs_open ON runs (account, work) WHERE ended IS NULL AND work IS NOT NULL;
CREATE UNIQUE INDEX smtp_by_name ON credentials (identity) WHERE kind = 'Smtp';
CREATE INDEX status_changes_by_contact ON status_changes (account, identity, number);
COMMIT;
