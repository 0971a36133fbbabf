/** The repository of credentials: the operations that API keys and SMTP credentials share, on their one table. */
import {
  AccessDenied,
  type AccessLevel,
  CredentialNotFound,
  type CredentialOperations,
  fnRedacted,
  InvalidInput,
  isAddressable,
  maximumCredentials,
  NameTaken,
  notAddressable,
  type SmtpCredentialsPayload,
  type SubaccountScope,
  TooManyCredentials
} from "@roster/domain"
import { type DateTime, Effect, type Redacted } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { AuditRefusals } from "./AuditRefusals.ts"
import { eventOf } from "./AuditTrail.ts"
import { Caller, type CallerIdentity } from "./Caller.ts"
import { accountOf, auditedChange, type Change, checkScopes, refuse } from "./AuditedChange.ts"
import {
  accessLevelsOf,
  changesOf,
  type CredentialRecord,
  type CredentialRow,
  toRecord,
  insertCredential,
  type CredentialScope,
  scopeOf
} from "./CredentialRow.ts"
import { type CredentialKind, makeSecret } from "./Secret.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { nowSeconds, toSeconds } from "../store/Timestamps.ts"

type Payload = Omit<SmtpCredentialsPayload, "name"> & { readonly name: string }

/** The differences between the kinds of credential. */
interface Kind<Credential, P extends Payload, Protected, Given> {
  readonly kind: CredentialKind
  /** Validates what a caller in this process gives, which did not come through the HTTP interface. */
  readonly read: (given: Given) => Effect.Effect<P, InvalidInput>
  /** The middle of the operation identifiers: `Apikeys` or `Smtp`. */
  readonly resource: "Apikeys" | "Smtp"
  readonly accessLevels: (payload: P) => ReadonlyArray<AccessLevel>
  /** The form of a name that is unique. */
  readonly identity: (name: string) => string
  readonly toCredential: (record: CredentialRecord, accessLevels: ReadonlyArray<AccessLevel>) => Credential
  /** Refuses to change a protected credential to a scope, or to delete it if there is no next scope. */
  readonly protect: (
    caller: CallerIdentity,
    row: CredentialRow,
    next: CredentialScope | undefined
  ) => Effect.Effect<void, Protected | SqlError.SqlError>
}

const secondsOf = (date: DateTime.Utc | null): number | null => (date === null ? null : toSeconds(date))

const isTaken = (error: { readonly _tag: string }): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && error.reason._tag === "UniqueViolation"

export const credentialRepository = <
  Credential,
  P extends Payload,
  Protected extends { readonly _tag: string } = never,
  Given = P
>(
  sql: SqlClient.SqlClient,
  refusals: AuditRefusals["Service"],
  { accessLevels, identity, kind, protect, read, resource, toCredential }: Kind<Credential, P, Protected, Given>
): CredentialOperations<Credential, Credential & { readonly token: Redacted.Redacted<string> }, Given, Protected> => {
  const toAnswer = (row: CredentialRow) => toCredential(toRecord(row), accessLevelsOf(row))
  const span = (method: string) => `CredentialsService.${kind === "ApiKey" ? "apiKeys" : "smtp"}.${method}`
  const operation = (rest: string) => `security${resource}${rest}`

  const changing = auditedChange(sql, refusals)

  /** An invalid payload is recorded without a name, as over HTTP. */
  const readPayload = Effect.fnUntraced(function* (operation: string, given: Given) {
    const event = eventOf(yield* Caller, operation)
    return yield* Effect.tapError(read(given), () => refusals.record(event, "InvalidInput"))
  })

  const findRow = Effect.fnUntraced(function* (account: string | undefined, name: string) {
    if (!isAddressable(name)) return yield* notAddressable("name")
    if (account === undefined) return undefined
    const [row] = yield* sql<CredentialRow>`
      SELECT * FROM credentials WHERE account = ${account} AND kind = ${kind} AND identity = ${identity(name)}`
    return row
  })

  const checkExpiry = Effect.fnUntraced(function* (expires: DateTime.Utc | null | undefined) {
    if (expires == null || toSeconds(expires) > (yield* nowSeconds)) return
    return yield* new InvalidInput({ field: "Expires", issue: "it lies in the past" })
  })

  const list = fnRedacted(span("list"))(
    function* (of: SubaccountScope = {}) {
      const account = yield* accountOf(yield* Caller, of.subaccount)
      if (account === undefined) return []
      const rows = yield* sql<CredentialRow>`
      SELECT * FROM credentials WHERE account = ${account} AND kind = ${kind} ORDER BY id`
      return rows.map(toAnswer)
    },
    orStoreFailure(operation("Get"))
  )

  const get = fnRedacted(span("get"))(
    function* (name: string, of: SubaccountScope = {}) {
      const row = yield* findRow(yield* accountOf(yield* Caller, of.subaccount), name)
      return row === undefined ? yield* new CredentialNotFound({ name }) : toAnswer(row)
    },
    orStoreFailure(operation("ByNameGet"))
  )

  const insert = Effect.fnUntraced(function* (payload: P, change: Change) {
    const next: CredentialScope = {
      levels: accessLevels(payload),
      expires: secondsOf(payload.expires ?? null),
      ranges: payload.ipRanges ?? []
    }
    yield* checkScopes(change, next)
    const { account } = change
    if (account === undefined)
      return yield* refuse(change.operation, new AccessDenied({ required: "ModifySubAccounts" }))
    yield* checkExpiry(payload.expires)
    const [taken] = yield* sql`
      SELECT id FROM credentials WHERE kind = ${kind} AND identity = ${identity(payload.name)}
        AND ${kind === "Smtp" ? sql`1 = 1` : sql`account = ${account}`}`
    if (taken !== undefined) return yield* new NameTaken({ name: payload.name })
    const [count] = yield* sql<{ readonly count: number }>`
      SELECT count(*) AS count FROM credentials WHERE account = ${account} AND kind = ${kind}`
    if (Number(count?.count ?? 0) >= maximumCredentials) {
      return yield* new TooManyCredentials({ maximum: maximumCredentials })
    }
    const secret = makeSecret(kind)
    const row = yield* insertCredential(sql, {
      account,
      kind,
      name: payload.name,
      identity: identity(payload.name),
      scope: next,
      now: yield* nowSeconds,
      secret
    })
    return [{ ...toAnswer(row), token: secret }, { levelsAdded: next.levels }] as const
  })

  const create = fnRedacted(span("create"))(
    function* (given: Given) {
      const payload = yield* readPayload(operation("Post"), given)
      const { name, subaccount } = payload
      return yield* changing(operation("Post"), name, subaccount, (change) => insert(payload, change)).pipe(
        Effect.catchIf(isTaken, () => new NameTaken({ name }))
      )
    },
    orStoreFailure(operation("Post"))
  )

  const replace = Effect.fnUntraced(function* (name: string, payload: P, change: Change) {
    const row = yield* findRow(change.account, name)
    const was = row === undefined ? undefined : scopeOf(row)
    const next: CredentialScope = {
      levels: accessLevels(payload),
      expires: payload.expires === undefined ? (was?.expires ?? null) : secondsOf(payload.expires),
      ranges: payload.ipRanges ?? was?.ranges ?? []
    }
    yield* checkScopes(change, next, ...(was === undefined ? [] : [was]))
    if (row === undefined) return yield* new CredentialNotFound({ name })
    yield* checkExpiry(payload.expires)
    yield* protect(change.caller, row, next)
    const changes = changesOf(row, next, { name: payload.name, identity: identity(payload.name) })
    const [changed] = yield* sql<CredentialRow>`
      UPDATE credentials SET ${sql.update(changes.columns)} WHERE id = ${row.id} RETURNING *`
    return changed === undefined
      ? yield* new CredentialNotFound({ name })
      : ([toAnswer(changed), changes.details] as const)
  })

  const update = fnRedacted(span("update"))(
    function* (name: string, given: Given) {
      const payload = yield* readPayload(operation("ByNamePut"), given)
      const { name: next, subaccount } = payload
      return yield* changing(operation("ByNamePut"), name, subaccount, (change) => replace(name, payload, change)).pipe(
        Effect.catchIf(isTaken, () => new NameTaken({ name: next }))
      )
    },
    orStoreFailure(operation("ByNamePut"))
  )

  const remove = Effect.fnUntraced(function* (name: string, change: Change) {
    const row = yield* findRow(change.account, name)
    if (row === undefined) return yield* new CredentialNotFound({ name })
    yield* checkScopes(change, scopeOf(row))
    yield* protect(change.caller, row, undefined)
    yield* sql`DELETE FROM credentials WHERE id = ${row.id}`
    return [undefined, { levelsRemoved: accessLevelsOf(row) }] as const
  })

  const delete_ = fnRedacted(span("delete"))(
    function* (name: string, of: SubaccountScope = {}) {
      yield* changing(operation("ByNameDelete"), name, of.subaccount, (change) => remove(name, change), true)
    },
    orStoreFailure(operation("ByNameDelete"))
  )

  return { list, get, create, update, delete: delete_ }
}
