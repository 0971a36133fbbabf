CREATE FUNCTION public.audit_entries_is_kept() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN
            IF TG_OP = 'DELETE' THEN
              IF (CASE WHEN OLD.outcome = 'Done' THEN OLD.time <= extract(epoch FROM now()) - 34560000
    ELSE OLD.time <= extract(epoch FROM now()) - 7776000
      OR (OLD.time <= extract(epoch FROM now()) - 86400 AND OLD.number <= (SELECT max(number) FROM audit_entries) - 100000) END) THEN RETURN OLD; END IF;
            END IF;
            RAISE EXCEPTION 'audit_entries is only added to';
          END$$;
CREATE FUNCTION public.contacts_leave_lists() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN DELETE FROM list_members WHERE contact_id = OLD.id; RETURN NULL; END$$;
CREATE TABLE public.audit_entries (
    number bigint NOT NULL,
    "time" bigint NOT NULL,
    account text NOT NULL,
    actor text NOT NULL,
    actor_name text NOT NULL,
    actor_hint text NOT NULL,
    peer text,
    operation text NOT NULL,
    subject text,
    outcome text NOT NULL,
    details text NOT NULL
);
ALTER TABLE public.audit_entries ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_entries_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.contacts (
    id bigint NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    identity text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL,
    status text NOT NULL,
    first_name text,
    last_name text,
    custom_fields text NOT NULL,
    consent_ip text,
    consent_date bigint,
    consent_tracking text,
    source text NOT NULL,
    date_added bigint NOT NULL,
    date_updated bigint,
    status_change_date bigint,
    total_sent integer DEFAULT 0 NOT NULL,
    total_opened integer DEFAULT 0 NOT NULL,
    total_clicked integer DEFAULT 0 NOT NULL,
    total_failed integer DEFAULT 0 NOT NULL,
    last_sent bigint,
    last_opened bigint,
    last_clicked bigint,
    last_failed bigint,
    last_ip text,
    error_code integer,
    friendly_error_message text
);
ALTER TABLE public.contacts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.contacts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.credential_uses (
    credential bigint NOT NULL,
    level text NOT NULL,
    last_use bigint NOT NULL
);
CREATE TABLE public.credentials (
    id bigint NOT NULL,
    account text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    identity text NOT NULL,
    access_levels text NOT NULL,
    ip_ranges text NOT NULL,
    date_created bigint NOT NULL,
    last_use bigint,
    expires bigint,
    secret_digest bytea NOT NULL,
    secret_hint text NOT NULL
);
ALTER TABLE public.credentials ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.credentials_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.idempotent_answers (
    account text NOT NULL,
    call_key text NOT NULL,
    request_digest bytea NOT NULL,
    status integer NOT NULL,
    body bytea NOT NULL,
    created bigint NOT NULL,
    running bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.job_address_lists (
    number bigint NOT NULL,
    job bigint NOT NULL,
    identities text NOT NULL
);
ALTER TABLE public.job_address_lists ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_address_lists_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.job_kept_statuses (
    job bigint NOT NULL,
    line bigint NOT NULL,
    status text NOT NULL
);
CREATE TABLE public.job_parts (
    job bigint NOT NULL,
    part integer NOT NULL,
    content bytea NOT NULL
);
CREATE TABLE public.job_rejections (
    job bigint NOT NULL,
    line bigint NOT NULL,
    reason text NOT NULL,
    cells text
);
CREATE TABLE public.jobs (
    number bigint NOT NULL,
    id text NOT NULL,
    account text NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    request text NOT NULL,
    file_key text,
    rows_done bigint DEFAULT 0 NOT NULL,
    accepted bigint DEFAULT 0 NOT NULL,
    rejected bigint DEFAULT 0 NOT NULL,
    problem text,
    leased_until bigint DEFAULT 0 NOT NULL,
    lease text,
    created bigint NOT NULL,
    expires bigint NOT NULL,
    duplicates bigint DEFAULT 0 NOT NULL,
    rejected_kept bigint DEFAULT 0 NOT NULL,
    rows_total bigint,
    header text,
    ended bigint,
    attempts integer DEFAULT 0 NOT NULL,
    furthest bigint DEFAULT 0 NOT NULL,
    turn bigint DEFAULT 0 NOT NULL,
    rejected_size bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    statuses_kept bigint DEFAULT 0 NOT NULL
);
ALTER TABLE public.jobs ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.jobs_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.list_members (
    list_id bigint NOT NULL,
    contact_id bigint NOT NULL
);
CREATE TABLE public.lists (
    id bigint NOT NULL,
    account text NOT NULL,
    name text NOT NULL
);
ALTER TABLE public.lists ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.lists_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.migrations (
    migration_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    name text NOT NULL
);
CREATE TABLE public.outbox (
    message_id text NOT NULL,
    transaction_id text NOT NULL,
    account text NOT NULL,
    message text NOT NULL,
    created bigint NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
);
CREATE UNLOGGED TABLE public.wrong_keys (
    network text NOT NULL,
    count bigint NOT NULL,
    last bigint NOT NULL
);
INSERT INTO public.audit_entries OVERRIDING SYSTEM VALUE VALUES (1, 1795971245, '', 'Owner', '', '', NULL, 'securityApikeysPost', 'ci', 'Done', '{"levelsAdded":["ViewContacts"]}');
INSERT INTO public.contacts OVERRIDING SYSTEM VALUE VALUES (1, '', 'ann@example.com', 'Ann@Example.com', 'Active', 'Ann', 'Müller', '{"City":"Bonn","city":"Rome","plan":"pro"}', NULL, NULL, NULL, 'ContactApi', 1795971241, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.contacts OVERRIDING SYSTEM VALUE VALUES (2, '', 'bob@example.com', 'bob@example.com', 'Unsubscribed', 'Bob', NULL, '{"City":"Oslo","city":"Oslo"}', NULL, NULL, NULL, 'ContactApi', 1795971241, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.contacts OVERRIDING SYSTEM VALUE VALUES (3, '', 'cleo@example.com', 'cleo@example.com', 'Bounced', 'Cleo', 'Ibsen', '{"city":"Lima","plan":"free"}', NULL, NULL, NULL, 'ContactApi', 1795971241, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.contacts OVERRIDING SYSTEM VALUE VALUES (4, '', 'dan@example.com', 'dan@example.com', 'Active', NULL, NULL, '{"Stadt":"Köln"}', NULL, NULL, NULL, 'ContactApi', 1795971242, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.credentials OVERRIDING SYSTEM VALUE VALUES (1, '', 'ApiKey', 'ci', 'ci', '["ViewContacts"]', '[]', 1795971245, NULL, NULL, '\x5a214dc8a2b154ca1ca7243fe207aa02288e5c64538d39af9f43f6dce66b3bb3', 'roster_…o2oo');
INSERT INTO public.list_members VALUES (1, 1);
INSERT INTO public.list_members VALUES (1, 2);
INSERT INTO public.list_members VALUES (1, 3);
INSERT INTO public.lists OVERRIDING SYSTEM VALUE VALUES (1, '', 'News');
INSERT INTO public.migrations VALUES (1, '2026-11-29 17:01:57.73593+00', 'contacts');
INSERT INTO public.migrations VALUES (2, '2026-11-29 17:01:57.73593+00', 'credentials');
INSERT INTO public.migrations VALUES (3, '2026-11-29 17:01:57.73593+00', 'jobs');
INSERT INTO public.migrations VALUES (4, '2026-11-29 17:01:57.73593+00', 'outbox');
INSERT INTO public.migrations VALUES (5, '2026-11-29 17:01:57.73593+00', 'answers');
INSERT INTO public.migrations VALUES (6, '2026-11-29 17:01:57.73593+00', 'contact_blocks');
INSERT INTO public.migrations VALUES (7, '2026-11-29 17:01:57.73593+00', 'job_details');
INSERT INTO public.migrations VALUES (8, '2026-11-29 17:01:57.73593+00', 'credential_audit');
INSERT INTO public.migrations VALUES (9, '2026-11-29 17:01:57.73593+00', 'job_address_lists');
INSERT INTO public.migrations VALUES (10, '2026-11-29 17:01:57.73593+00', 'count_after_adding');
INSERT INTO public.migrations VALUES (11, '2026-11-29 17:01:57.73593+00', 'account_bounds');
INSERT INTO public.migrations VALUES (12, '2026-11-29 17:01:57.73593+00', 'audit_retention');
INSERT INTO public.migrations VALUES (13, '2026-11-29 17:01:57.73593+00', 'kept_statuses');
INSERT INTO public.migrations VALUES (14, '2026-11-29 17:01:57.73593+00', 'contact_keys');
SELECT pg_catalog.setval('public.audit_entries_number_seq', 1, true);
SELECT pg_catalog.setval('public.contacts_id_seq', 4, true);
SELECT pg_catalog.setval('public.credentials_id_seq', 1, true);
SELECT pg_catalog.setval('public.job_address_lists_number_seq', 1, false);
SELECT pg_catalog.setval('public.jobs_number_seq', 1, false);
SELECT pg_catalog.setval('public.lists_id_seq', 1, true);
ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.contacts
    ADD CONSTRAINT contacts_pkey PRIMARY KEY (account, identity);
ALTER TABLE ONLY public.credential_uses
    ADD CONSTRAINT credential_uses_pkey PRIMARY KEY (credential, level);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_secret_digest_key UNIQUE (secret_digest);
ALTER TABLE ONLY public.idempotent_answers
    ADD CONSTRAINT idempotent_answers_pkey PRIMARY KEY (account, call_key);
ALTER TABLE ONLY public.job_address_lists
    ADD CONSTRAINT job_address_lists_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.job_kept_statuses
    ADD CONSTRAINT job_kept_statuses_pkey PRIMARY KEY (job, line);
ALTER TABLE ONLY public.job_parts
    ADD CONSTRAINT job_parts_pkey PRIMARY KEY (job, part);
ALTER TABLE ONLY public.job_rejections
    ADD CONSTRAINT job_rejections_pkey PRIMARY KEY (job, line);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_file_key_key UNIQUE (file_key);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_id_key UNIQUE (id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.list_members
    ADD CONSTRAINT list_members_pkey PRIMARY KEY (list_id, contact_id);
ALTER TABLE ONLY public.lists
    ADD CONSTRAINT lists_account_name_key UNIQUE (account, name);
ALTER TABLE ONLY public.lists
    ADD CONSTRAINT lists_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (migration_id);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (message_id);
ALTER TABLE ONLY public.wrong_keys
    ADD CONSTRAINT wrong_keys_pkey PRIMARY KEY (network);
CREATE UNIQUE INDEX api_keys_by_name ON public.credentials USING btree (account, identity) WHERE (kind = 'ApiKey'::text);
CREATE INDEX audit_changes_by_age ON public.audit_entries USING btree ("time") WHERE (outcome = 'Done'::text);
CREATE INDEX audit_refusals_by_age ON public.audit_entries USING btree ("time") WHERE (outcome <> 'Done'::text);
CREATE UNIQUE INDEX contacts_in_order ON public.contacts USING btree (account, id);
CREATE INDEX idempotent_answers_by_age ON public.idempotent_answers USING btree (created);
CREATE INDEX idempotent_answers_in_order ON public.idempotent_answers USING btree (account, running);
CREATE INDEX job_address_lists_by_job ON public.job_address_lists USING btree (job);
CREATE INDEX jobs_by_account ON public.jobs USING btree (account, number);
CREATE INDEX jobs_by_end ON public.jobs USING btree (ended) WHERE (ended IS NOT NULL);
CREATE INDEX jobs_by_state ON public.jobs USING btree (state, number);
CREATE INDEX jobs_by_turn ON public.jobs USING btree (turn);
CREATE INDEX jobs_by_turn_of_account ON public.jobs USING btree (account, turn);
CREATE INDEX jobs_open ON public.jobs USING btree (account) WHERE (ended IS NULL);
CREATE INDEX jobs_with_files ON public.jobs USING btree (account, kind, bytes) WHERE (bytes > 0);
CREATE INDEX list_members_by_contact ON public.list_members USING btree (contact_id);
CREATE INDEX outbox_by_account ON public.outbox USING btree (account, bytes);
CREATE UNIQUE INDEX smtp_by_name ON public.credentials USING btree (identity) WHERE (kind = 'Smtp'::text);
CREATE INDEX wrong_keys_by_age ON public.wrong_keys USING btree (last);
CREATE TRIGGER audit_entries_no_change BEFORE DELETE OR UPDATE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION public.audit_entries_is_kept();
CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.audit_entries_is_kept();
CREATE TRIGGER contacts_leave_lists AFTER DELETE ON public.contacts FOR EACH ROW EXECUTE FUNCTION public.contacts_leave_lists();
ALTER TABLE ONLY public.credential_uses
    ADD CONSTRAINT credential_uses_credential_fkey FOREIGN KEY (credential) REFERENCES public.credentials(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_address_lists
    ADD CONSTRAINT job_address_lists_job_fkey FOREIGN KEY (job) REFERENCES public.jobs(number) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_kept_statuses
    ADD CONSTRAINT job_kept_statuses_job_fkey FOREIGN KEY (job) REFERENCES public.jobs(number) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_parts
    ADD CONSTRAINT job_parts_job_fkey FOREIGN KEY (job) REFERENCES public.jobs(number) ON DELETE CASCADE;
ALTER TABLE ONLY public.job_rejections
    ADD CONSTRAINT job_rejections_job_fkey FOREIGN KEY (job) REFERENCES public.jobs(number) ON DELETE CASCADE;
ALTER TABLE ONLY public.list_members
    ADD CONSTRAINT list_members_list_id_fkey FOREIGN KEY (list_id) REFERENCES public.lists(id) ON DELETE CASCADE;
