/** The repository of credentials: the operations that API keys and SMTP credentials share, on their one table. */
import {
  AccessDenied,
  type AccessLevel,
  CallName,
  CredentialNotFound,
  type CredentialOperations,
  type IdempotencyKeyInUse,
  IdempotencyKeyReused,
  InvalidInput,
  type KeyedCall,
  maximumCredentials,
  maximumKeptCredentials,
  NameTaken,
  type ServiceError,
  type SmtpUpdatePayload,
  type SubaccountScope,
  TooManyCredentials,
  type AuditDetails
} from "@roster/domain"
import { checkIdempotencyKey, fnRedacted, isAddressable, notAddressable } from "@roster/domain/internal"
import { type DateTime, Effect, type Redacted } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { AuditRefusals } from "./AuditRefusals.ts"
import { eventOf } from "./AuditTrail.ts"
import { Caller, type CallerIdentity } from "./Caller.ts"
import { accountOf, auditedChange, type Change, checkWithin, refuse } from "./AuditedChange.ts"
import {
  changedSettings,
  type CredentialRow,
  detailsOf,
  findCredentials,
  insertCredential,
  renewSecret,
  type StoredSettings,
  unset,
  updateCredential
} from "./CredentialRow.ts"
import { type CredentialKind, makeSecret } from "./Secret.ts"
import { callDigest, type KeptCall, keptWithName, onceByKey, repeatedOf } from "./KeyedCalls.ts"
import { answersFull } from "../store/KeptAnswers.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { storeClock, toSeconds } from "../store/StoreClock.ts"

/** What a creation or a change may give of either kind of credential. */
interface Settings extends Omit<SmtpUpdatePayload, "expires"> {
  readonly expires?: DateTime.Utc | null | undefined
  readonly accessLevels?: ReadonlyArray<AccessLevel> | undefined
}

interface Payload extends Settings {
  readonly name: string
}

/** The differences between the kinds of credential. */
interface Kind<Credential, P, Changes, Protected> {
  readonly kind: CredentialKind
  /** Validates what a caller in this process gives, which did not come through the HTTP interface. */
  readonly read: (given: P) => Effect.Effect<Payload, InvalidInput>
  readonly readChanges: (given: Changes) => Effect.Effect<Settings, InvalidInput>
  /** The middle of the operation identifiers: `Apikeys` or `Smtp`. */
  readonly resource: "Apikeys" | "Smtp"
  /** The access levels that every credential of this kind has. */
  readonly accessLevels?: ReadonlyArray<AccessLevel>
  /** The form of a name that is unique. */
  readonly identity: (name: string) => string
  readonly toCredential: (row: CredentialRow) => Credential
  /** Refuses to change a protected credential to other settings, or to delete it if there are none. */
  readonly protect: (
    caller: CallerIdentity,
    row: CredentialRow,
    next: StoredSettings | undefined
  ) => Effect.Effect<void, Protected | SqlError.SqlError>
}

/** A credential as it was made, with its secret and what the audit trail says of it. */
interface Made {
  readonly row: CredentialRow
  readonly secret: Redacted.Redacted<string>
  readonly details: AuditDetails
}

const isTaken = (error: { readonly _tag: string }): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && error.reason._tag === "UniqueViolation"

export const credentialRepository = <Credential, P, Changes, Protected extends { readonly _tag: string } = never>(
  sql: SqlClient.SqlClient,
  refusals: AuditRefusals["Service"],
  {
    accessLevels,
    identity,
    kind,
    protect,
    read,
    readChanges,
    resource,
    toCredential
  }: Kind<Credential, P, Changes, Protected>
): CredentialOperations<
  Credential,
  Credential & { readonly token: Redacted.Redacted<string> },
  P,
  Protected,
  Changes
> => {
  const span = (method: string) => `CredentialsService.${kind === "ApiKey" ? "apiKeys" : "smtp"}.${method}`
  const operation = (rest: string) => `security${resource}${rest}`

  const changing = auditedChange(sql, refusals)

  /** An invalid payload is recorded without a name, as over HTTP. */
  const recordInvalid = Effect.fnUntraced(function* <A>(operation: string, read: Effect.Effect<A, InvalidInput>) {
    const event = eventOf(yield* Caller, operation)
    return yield* Effect.tapError(read, () => refusals.record(event, "InvalidInput"))
  })

  const findRow = Effect.fnUntraced(function* (account: string | undefined, name: string) {
    if (!isAddressable(name)) return yield* notAddressable("name")
    if (account === undefined) return undefined
    const named = sql`account = ${account} AND kind = ${kind} AND identity = ${identity(name)}`
    const [row] = yield* findCredentials(sql, named)
    return row
  })

  const settingsAfter = (was: StoredSettings, { accessLevels: given, ...settings }: Settings) =>
    changedSettings(was, { ...settings, accessLevels: accessLevels ?? (given && [...new Set(given)]) })

  const worksAt = (now: number, { expires }: Pick<StoredSettings, "expires">): boolean =>
    expires === null || toSeconds(expires) > now

  const checkExpiry = Effect.fnUntraced(function* (expires: DateTime.Utc | null = null) {
    if (worksAt(yield* storeClock(sql).seconds, { expires })) return
    return yield* new InvalidInput({ field: "expires", issue: "it lies in the past" })
  })

  /** Refuses one more that works, in the transaction of its change, which has locked the account. */
  const checkRoom = Effect.fnUntraced(function* (account: string, added: 0 | 1) {
    const all = yield* findCredentials(sql, sql`account = ${account} AND kind = ${kind}`)
    const now = yield* storeClock(sql).seconds
    const isFull = all.filter((row) => worksAt(now, row)).length >= maximumCredentials
    if (!isFull && all.length + added <= maximumKeptCredentials) return
    return yield* new TooManyCredentials({ maximum: isFull ? maximumCredentials : maximumKeptCredentials })
  })

  const list = fnRedacted(span("list"))(
    function* (of: SubaccountScope = {}) {
      const account = yield* accountOf(yield* Caller, of.subaccount)
      if (account === undefined) return []
      const rows = yield* findCredentials(sql, sql`account = ${account} AND kind = ${kind}`)
      return rows.map(toCredential)
    },
    orStoreFailure(operation("Get"))
  )

  const get = fnRedacted(span("get"))(
    function* (name: string, of: SubaccountScope = {}) {
      const row = yield* findRow(yield* accountOf(yield* Caller, of.subaccount), name)
      return row === undefined ? yield* new CredentialNotFound({ name }) : toCredential(row)
    },
    orStoreFailure(operation("ByNameGet"))
  )

  /** Gives the credential that the same call made a new secret, since the first one is lost; `undefined` if there is none. */
  const renew = Effect.fnUntraced(function* (id: number, name: string, change: Change) {
    const [row] = yield* findCredentials(sql, sql`id = ${id}`)
    if (row === undefined) return undefined
    yield* checkWithin(change, row)
    const secret = yield* makeSecret(kind)
    const renewed = yield* renewSecret(sql, row, secret)
    if (renewed === undefined) return yield* new NameTaken({ name })
    return { row: renewed, secret, details: { changed: ["Token"] } } satisfies Made
  })

  const insert = Effect.fnUntraced(function* (payload: Payload, account: string) {
    const [taken] = yield* sql`
      SELECT id FROM credentials WHERE kind = ${kind} AND identity = ${identity(payload.name)}
        AND ${kind === "Smtp" ? sql`1 = 1` : sql`account = ${account}`}`
    if (taken !== undefined) return yield* new NameTaken({ name: payload.name })
    yield* checkRoom(account, 1)
    const secret = yield* makeSecret(kind)
    const next = settingsAfter(unset, payload)
    const named = { account, kind, name: payload.name, identity: identity(payload.name) }
    const row = yield* insertCredential(sql, { ...next, ...named, dateCreated: yield* storeClock(sql).now }, secret)
    return { row, secret, details: { levelsAdded: next.accessLevels } } satisfies Made
  })

  const make = Effect.fnUntraced(function* (payload: Payload, key: string | undefined, change: Change) {
    yield* checkWithin(change, settingsAfter(unset, payload))
    const { account, operation } = change
    if (account === undefined) return yield* refuse(operation, new AccessDenied({ required: "ModifySubAccounts" }))
    yield* checkExpiry(payload.expires)
    const called = yield* CallName
    const kept = (
      key: string
    ): KeptCall<
      Made,
      IdempotencyKeyInUse | IdempotencyKeyReused | NameTaken | ServiceError | SqlError.SqlError,
      never
    > => ({
      key,
      digest: callDigest(operation, JSON.stringify(payload)),
      // Which credential it made, and never the secret.
      write: ({ row }) => ({ status: 201, body: keptWithName(String(row.id), called) }),
      read: (_, answer) => Effect.flatMap(repeatedOf(sql, answer), (id) => renew(Number(id), payload.name, change)),
      refuse: (why) => Effect.fail(why === "used" ? new IdempotencyKeyReused({}) : refuse(operation, answersFull))
    })
    const inserted = insert(payload, account)
    const { details, row, secret } = yield* key === undefined ? inserted : onceByKey(sql, kept(key), inserted)
    return [{ ...toCredential(row), token: secret }, details] as const
  })

  const create = fnRedacted(span("create"))(
    function* (given: P, { idempotencyKey: key }: KeyedCall = {}) {
      const checked = Effect.andThen(checkIdempotencyKey(key), read(given))
      const payload = yield* recordInvalid(operation("Post"), checked)
      const { name, subaccount } = payload
      return yield* changing(operation("Post"), name, subaccount, (change) => make(payload, key, change)).pipe(
        // The same call may have made it at the same time.
        Effect.retry({ while: isTaken, times: key === undefined ? 0 : 1 }),
        Effect.catchIf(isTaken, () => new NameTaken({ name }))
      )
    },
    orStoreFailure(operation("Post"))
  )

  const replace = Effect.fnUntraced(function* (name: string, changes: Settings, change: Change) {
    const row = yield* findRow(change.account, name)
    const next = settingsAfter(row ?? unset, changes)
    yield* checkWithin(change, next, ...(row === undefined ? [] : [row]))
    if (row === undefined) return yield* new CredentialNotFound({ name })
    yield* checkExpiry(changes.expires)
    const now = yield* storeClock(sql).seconds
    if (!worksAt(now, row) && worksAt(now, next)) yield* checkRoom(row.account, 0)
    yield* protect(change.caller, row, next)
    const { name: renamedTo = row.name } = changes
    const renamed = { ...next, name: renamedTo, identity: identity(renamedTo) }
    const [changed] = yield* updateCredential(sql, row, renamed)
    return changed === undefined
      ? yield* new CredentialNotFound({ name })
      : ([toCredential(changed), detailsOf(row, renamed)] as const)
  })

  const update = fnRedacted(span("update"))(
    function* (name: string, given: Changes) {
      const changes = yield* recordInvalid(operation("ByNamePut"), readChanges(given))
      const { name: next = name, subaccount } = changes
      return yield* changing(operation("ByNamePut"), name, subaccount, (change) => replace(name, changes, change)).pipe(
        Effect.catchIf(isTaken, () => new NameTaken({ name: next }))
      )
    },
    orStoreFailure(operation("ByNamePut"))
  )

  const remove = Effect.fnUntraced(function* (name: string, change: Change) {
    const row = yield* findRow(change.account, name)
    if (row === undefined) return yield* new CredentialNotFound({ name })
    yield* checkWithin(change, row)
    yield* protect(change.caller, row, undefined)
    yield* sql`DELETE FROM credentials WHERE id = ${row.id}`
    return [undefined, { levelsRemoved: row.accessLevels }] as const
  })

  const delete_ = fnRedacted(span("delete"))(
    function* (name: string, of: SubaccountScope = {}) {
      yield* changing(operation("ByNameDelete"), name, of.subaccount, (change) => remove(name, change), true)
    },
    orStoreFailure(operation("ByNameDelete"))
  )

  return { list, get, create, update, delete: delete_ }
}
