/** The table of credentials: how each field is stored, how far a credential reaches, and what a change changes. */
import { AccessDenied, ExceedsGrantor, ReportedAccessLevel, type AuditDetails } from "@roster/domain"
import { CredentialSettings, formatWireDate } from "@roster/domain/internal"
import { Effect, Redacted, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { areRangesWithin } from "../network/IpRanges.ts"
import { readRows } from "../store/Rows.ts"
import { StoredDate, toSeconds } from "../store/StoreClock.ts"
import { digestOf, hintOf } from "./Secret.ts"

const { apiKeySettings, isSameSetting, settingNames } = CredentialSettings

/** How each setting is stored. */
const settingColumns = {
  accessLevels: Schema.fromJsonString(Schema.Array(ReportedAccessLevel)),
  expires: Schema.NullOr(StoredDate),
  ipRanges: Schema.fromJsonString(Schema.Array(Schema.String))
} as const satisfies { readonly [Name in CredentialSettings.SettingName]: Schema.Constraint }

/** The settings of a credential, each with a value. */
export type StoredSettings = Schema.Struct.Type<typeof settingColumns>

/** The settings of a credential for which none were given. */
export const unset: StoredSettings = { accessLevels: [], expires: null, ipRanges: [] }

const newColumns = {
  account: Schema.String,
  kind: Schema.Literals(["ApiKey", "Smtp"]),
  name: Schema.String,
  /** The form of the name that is unique. */
  identity: Schema.String,
  ...settingColumns,
  dateCreated: StoredDate,
  secretDigest: Schema.Uint8Array,
  secretHint: Schema.String
}

/** The columns that are named differently in code. */
const settingNamesInSql = { accessLevels: "access_levels", ipRanges: "ip_ranges" } as const
const nameInSql: Readonly<Record<string, string>> = settingNamesInSql
/** The columns of the settings. */
export const settingColumnNames: ReadonlyArray<string> = settingNames.map((name) => nameInSql[name] ?? name)
const namesInSql = {
  ...settingNamesInSql,
  dateCreated: "date_created",
  secretDigest: "secret_digest",
  secretHint: "secret_hint"
} as const

const Row = Schema.Struct({ id: Schema.Int, lastUse: Schema.NullOr(StoredDate), ...newColumns }).pipe(
  Schema.encodeKeys({ ...namesInSql, lastUse: "used" })
)
export type CredentialRow = typeof Row.Type

/** A row as the database has it. */
export type RawCredentialRow = typeof Row.Encoded

const readCredentials = readRows(Row)
const encodeNew = Schema.encodeSync(Schema.Struct(newColumns).pipe(Schema.encodeKeys(namesInSql)))
const encodeChange = Schema.encodeSync(
  Schema.Struct({ name: Schema.String, identity: Schema.String, ...settingColumns }).pipe(
    Schema.encodeKeys(settingNamesInSql)
  )
)

export const parseIpRanges = Schema.decodeSync(settingColumns.ipRanges)

/** All columns of a credential. Its own time of use is older than the records of uses. */
const columns = (sql: SqlClient.SqlClient) => sql`*, coalesce(
  (SELECT max(credential_uses.last_use) FROM credential_uses WHERE credential = credentials.id), credentials.last_use
) AS used`

/** The credentials that a condition selects, oldest first. */
export const findCredentials = (sql: SqlClient.SqlClient, where: Statement.Fragment) =>
  readCredentials(sql`SELECT ${columns(sql)} FROM credentials WHERE ${where} ORDER BY id`)

/** Inserts a credential. Only the digest of its secret is stored. */
export const insertCredential = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  credential: Omit<CredentialRow, "id" | "lastUse" | "secretDigest" | "secretHint">,
  secret: Redacted.Redacted<string>
) {
  const text = Redacted.value(secret)
  const values = encodeNew({
    ...credential,
    secretDigest: digestOf(text),
    secretHint: hintOf(credential.kind, text)
  })
  const [row] = yield* readCredentials(sql`INSERT INTO credentials ${sql.insert(values)} RETURNING ${columns(sql)}`)
  return row ?? (yield* Effect.die(new Error("an insert gave no row")))
})

/** Gives a credential another secret, if nobody has used the one that it has. */
export const renewSecret = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { id, kind }: CredentialRow,
  secret: Redacted.Redacted<string>
) {
  const text = Redacted.value(secret)
  const [row] = yield* readCredentials(sql`
    UPDATE credentials SET secret_digest = ${digestOf(text)}, secret_hint = ${hintOf(kind, text)}
    WHERE id = ${id} AND last_use IS NULL AND NOT EXISTS (SELECT 1 FROM credential_uses WHERE credential = ${id})
    RETURNING ${columns(sql)}`)
  return row
})

/** Gives a credential another name and other settings. */
export const updateCredential = (
  sql: SqlClient.SqlClient,
  { id }: CredentialRow,
  next: StoredSettings & Pick<CredentialRow, "name" | "identity">
) =>
  readCredentials(
    sql`UPDATE credentials SET ${sql.update(encodeChange(next))} WHERE id = ${id} RETURNING ${columns(sql)}`
  )

/** The settings after a change, which keeps those that it omits. */
export const changedSettings = (
  was: StoredSettings,
  change: { readonly [Name in keyof StoredSettings]?: StoredSettings[Name] | undefined }
): StoredSettings => ({
  ...was,
  ...Object.fromEntries(
    settingNames.map((name) => [name, change[name]] as const).filter(([, value]) => value !== undefined)
  )
})

/** The audit details of a change. */
export const detailsOf = (row: CredentialRow, next: StoredSettings & Pick<CredentialRow, "name">): AuditDetails => {
  const isRenamed = row.name !== next.name
  const levelsAdded = next.accessLevels.filter((level) => !row.accessLevels.includes(level))
  const levelsRemoved = row.accessLevels.filter((level) => !next.accessLevels.includes(level))
  const changed = settingNames.filter((name) => !isSameSetting(row[name], next[name]))
  return {
    changed: [...(isRenamed ? ["Name"] : []), ...changed.map((name) => apiKeySettings[name].wire)],
    ...(levelsAdded.length === 0 ? {} : { levelsAdded }),
    ...(levelsRemoved.length === 0 ? {} : { levelsRemoved }),
    ...(isRenamed ? { renamedTo: next.name } : {})
  }
}

type Violation = AccessDenied | ExceedsGrantor | undefined

/** How the settings of a credential exceed those of the key that makes or changes it. */
const violations: {
  readonly [Limit in CredentialSettings.CredentialLimit]: (of: StoredSettings, within: StoredSettings) => Violation
} = {
  accessLevels: (of, within) => {
    const missing = of.accessLevels.find((level) => level !== "None" && !within.accessLevels.includes(level))
    return missing === undefined ? undefined : new AccessDenied({ required: missing })
  },
  expires: ({ expires }, { expires: limit }) =>
    limit === null || (expires !== null && toSeconds(expires) <= toSeconds(limit))
      ? undefined
      : new ExceedsGrantor({ field: "expires", limit: formatWireDate(limit) }),
  ipRanges: ({ ipRanges }, within) =>
    within.ipRanges.length === 0 || (ipRanges.length > 0 && areRangesWithin(ipRanges, within.ipRanges))
      ? undefined
      : new ExceedsGrantor({ field: "ipRanges", limit: within.ipRanges.join(", ") })
}

/** The first way in which a credential exceeds another. A key cannot grant more than it has. (docs/decisions/access.md) */
export const violationOf = (of: StoredSettings, within: StoredSettings): Violation =>
  Object.values(violations)
    .map((violation) => violation(of, within))
    .find((found) => found !== undefined)
