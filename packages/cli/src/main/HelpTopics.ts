/** What `roster help` says of subjects that belong to no single command. The build adds it to the pages of help. */

const exitCodes: ReadonlyArray<readonly [code: number, meaning: string]> = [
  [0, "done"],
  [1, "a bug, or the output could not be written"],
  [2, "wrong usage, or a setting or file that cannot be used; nothing was sent"],
  [3, "not confirmed; nothing was done"],
  [4, "the API key is missing, was refused, lacks an access level, or would give another key more than it has"],
  [5, "not found: a contact, credential, export, job, list or e-mail"],
  [
    6,
    "conflict: the name is taken, the account has too many credentials, the job has ended, the plan is outdated, a " +
      "rotation was refused, or it is the last key that can manage keys"
  ],
  [7, "refused by the service"],
  [
    8,
    "the service or store is unavailable, busy or too slow, or its answer could not be read: a write may have been " +
      "done, and an export may still be running"
  ],
  [
    9,
    "partly done: some rows were rejected or not sent, the old secret is still in use, or the new one could not be " +
      "delivered; findings of apikeys audit"
  ],
  [10, "an export failed or expired"],
  [130, "stopped by Ctrl-C; the last line says how to resume"],
  [141, "the program that read the output has ended, such as head"],
  [143, "stopped by SIGTERM; the last line says how to resume"]
]

/** The subjects by the word behind `roster help`. */
export const helpTopics: Readonly<Record<string, string>> = {
  rules: `RULES
  A rule selects contacts: roster contacts list --rule "status = Active AND city = 'London'"

  status = Active, totalsent >= 10         = != < <= > >=
  city contains 'york'                     contains, not-contains, starts-with, ends-with
  dateadded > '2026-01-31'                 in UTC; the day, minute or second that is written, as a whole
  birthday month-day '01-31'               a day of each year
  daysfrom lastopened < 30                 days since a date
  a AND (b OR c)                           AND binds tighter than OR
  All                                      everyone; stands alone

  Fields are those of the record (email, status, firstname, lastname, source, dateadded, dateupdated, contactage in days,
  totalsent, totalopened, lastopened and others) and any custom field, in quotes if its name is not one word:
  'plan name' = 'gold'. Letter case does not matter. Texts and dates have quotes, and a quote in a text is written twice.
  A field without a value equals '', and is neither smaller nor greater than anything.

  Statuses that get mail: Active, Engaged, Transactional. Others: Inactive, Stale, Unsubscribed, Abuse, Bounced,
  NotConfirmed; no import changes the last four to one that gets mail without --resubscribe.

  roster contacts fields shows the fields in use; roster contacts count --rule RULE tries a rule.`,
  files: `FILES
  Import reads CSV, JSON, NDJSON, workbooks (.xlsx), and each of them but workbooks by gzip or in a ZIP archive; - is
  standard input. It writes FILE.rejected.csv beside FILE, with the reason for each row in a column _error.

  Folders, here as on Linux, where XDG_CONFIG_HOME and its like move them; macOS and Windows have their own:

  ~/.config/roster/config.json             profiles, with keys: readable by you alone
  ~/.local/share/roster/roster.db          the store that is used if nothing else is said, with -wal and -shm beside it
  ~/.local/state/roster/runs               records of imports and other changes, for undo: 30 days, personal data
  ~/.cache/roster                          compiled code; it can be deleted at any time

  A file appears under its name whole or not at all. One that exists is replaced only with --force, a store never.`,
  environment: `ENVIRONMENT
  A flag overrides its variable, which overrides the profile. roster status shows what holds.

  ROSTER_BASE_URL             address of the service, ending in /v4
  ROSTER_API_KEY              its key; ROSTER_API_KEY_HEADER and ROSTER_API_KEY_PREFIX say how it is sent
  ROSTER_PROFILE              profile to use
  ROSTER_DB                   file of a local store, instead of a service
  ROSTER_REQUIRE_REMOTE       true: fail rather than use a local store
  ROSTER_NO_INPUT             true: never ask
  ROSTER_DATABASE_URL         PostgreSQL of serve, backup, restore and doctor; ROSTER_DATABASE_PASSWORD is its password

  HTTPS_PROXY, NO_PROXY       proxies, as other programs use them
  NODE_EXTRA_CA_CERTS         file of a private authority of certificates
  OTEL_EXPORTER_OTLP_ENDPOINT collector of the traces of serve, which obeys other OTEL_ variables too
  NO_COLOR, FORCE_COLOR       without colours, or with them
  XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, TMPDIR
                              folders (roster help files)
  NODE_DISABLE_COMPILE_CACHE  1: keep no compiled code`,
  "exit-codes": `EXIT CODES
${exitCodes.map(([code, meaning]) => `  ${String(code).padEnd(6)}${meaning}`).join("\n")}`
}

/** What `roster help TOPIC` says; `undefined` if the words name no topic. */
export const topicOf = (args: ReadonlyArray<string>): string | undefined => {
  const [help, topic = "", ...more] = args
  return help === "help" && more.length === 0 && Object.hasOwn(helpTopics, topic) ? helpTopics[topic] : undefined
}
