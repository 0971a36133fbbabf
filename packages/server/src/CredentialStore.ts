/**
 * The operations that both kinds of credential share, on their one table.
 */
import {
  type AccessLevel,
  AccessDenied,
  CredentialNotFound,
  type CredentialOperations,
  type EmailAddress,
  emailAddressIssue,
  emailIdentity,
  InvalidInput,
  invalidInput,
  isAddressable,
  notAddressable,
  NameTaken,
  type OfSubaccount,
  ServiceError,
  TooManyCredentials
} from "@roster/domain"
import { type DateTime, Effect, Redacted, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { Caller, type CallerIdentity } from "./Caller.ts"
import { toSeconds } from "./ContactRow.ts"
import { type CredentialRow, type CredentialRecord, accessLevelsOf, toRecord } from "./CredentialRow.ts"
import { nowSeconds } from "./Job.ts"
import { type CredentialKind, digestOf, hintOf, makeSecret } from "./Secret.ts"
import { orStoreFailure } from "./StoreFailure.ts"

/**
 * The most credentials of one kind that an account holds.
 *
 * @category constants
 * @since 0.1.0
 */
export const maximumCredentials = 15

interface Payload {
  readonly name: string
  readonly expires?: DateTime.Utc | null
  readonly ipRanges?: ReadonlyArray<string>
  readonly subaccount?: EmailAddress
}

/** What differs between the kinds. */
interface Kind<Credential, P extends Payload> {
  readonly kind: CredentialKind
  /** What a payload is, checked here too, since a caller in this process may not have come through the contract. */
  readonly payload: Schema.Codec<P>
  /** The middle of the operation identifiers: `Apikeys` or `Smtp`. */
  readonly resource: "Apikeys" | "Smtp"
  readonly accessLevels: (payload: P) => ReadonlyArray<AccessLevel>
  /** Under what a name is unique. */
  readonly identity: (name: string) => string
  readonly toCredential: (record: CredentialRecord, accessLevels: ReadonlyArray<AccessLevel>) => Credential
}

/**
 * Whose credentials a call means. A subaccount sees its own; what it asks of another is as if that one did not exist.
 */
const accountOf = Effect.fnUntraced(function* ({ account }: CallerIdentity, subaccount: EmailAddress | undefined) {
  if (subaccount === undefined) return account
  const issue = emailAddressIssue(subaccount)
  if (issue !== undefined) return yield* new InvalidInput({ field: "subaccount", issue })
  const asked = emailIdentity(subaccount)
  return account === "" || account === asked ? asked : undefined
})

const isTaken = (error: SqlError.SqlError): boolean => error.reason._tag === "UniqueViolation"

/**
 * @internal
 */
export const credentialStore = <Credential, P extends Payload>(
  sql: SqlClient.SqlClient,
  { accessLevels, identity, kind, payload: schema, resource, toCredential }: Kind<Credential, P>
): CredentialOperations<Credential, Credential & { readonly token: Redacted.Redacted<string> }, P> => {
  const toAnswer = (row: CredentialRow) => toCredential(toRecord(row), accessLevelsOf(row))
  const span = (method: string) => `CredentialsService.${kind === "ApiKey" ? "apiKeys" : "smtp"}.${method}`
  const operation = (rest: string) => `security${resource}${rest}`

  const decodePayload = Schema.decodeUnknownEffect(schema)
  const checkPayload = (payload: P) => Effect.mapError(decodePayload(payload), (error) => invalidInput(error))

  const findRow = Effect.fnUntraced(function* (account: string | undefined, name: string) {
    if (!isAddressable(name)) return yield* notAddressable("name")
    const [row] =
      account === undefined
        ? []
        : yield* sql<CredentialRow>`
            SELECT * FROM credentials WHERE account = ${account} AND kind = ${kind} AND identity = ${identity(name)}`
    return row ?? (yield* new CredentialNotFound({ name }))
  })

  /** A caller gives no level that it does not have itself. */
  const checkLevels = Effect.fnUntraced(function* (
    operationId: string,
    caller: CallerIdentity,
    levels: ReadonlyArray<AccessLevel>
  ) {
    const { accessLevels: own } = caller
    const missing = levels.find((level) => level !== "None" && own !== undefined && !own.has(level))
    if (missing === undefined) return
    return yield* new ServiceError({ operation: operationId, reason: new AccessDenied({ required: missing }) })
  })

  const checkExpiry = Effect.fnUntraced(function* (expires: DateTime.Utc | null | undefined) {
    if (expires == null || toSeconds(expires) > (yield* nowSeconds)) return
    return yield* new InvalidInput({ field: "Expires", issue: "it lies in the past" })
  })

  const list = Effect.fn(span("list"))(
    function* (of: OfSubaccount = {}) {
      const account = yield* accountOf(yield* Caller, of.subaccount)
      if (account === undefined) return []
      const rows = yield* sql<CredentialRow>`
      SELECT * FROM credentials WHERE account = ${account} AND kind = ${kind} ORDER BY id`
      return rows.map(toAnswer)
    },
    orStoreFailure(operation("Get"))
  )

  const get = Effect.fn(span("get"))(
    function* (name: string, of: OfSubaccount = {}) {
      return toAnswer(yield* findRow(yield* accountOf(yield* Caller, of.subaccount), name))
    },
    orStoreFailure(operation("ByNameGet"))
  )

  const create = Effect.fn(span("create"))(
    function* (payload: P) {
      yield* checkPayload(payload)
      const caller = yield* Caller
      const account = yield* accountOf(caller, payload.subaccount)
      const levels = accessLevels(payload)
      yield* checkLevels(operation("Post"), caller, levels)
      if (account === undefined) {
        return yield* new ServiceError({
          operation: operation("Post"),
          reason: new AccessDenied({ required: "ModifySubAccounts" })
        })
      }
      yield* checkExpiry(payload.expires)
      const secret = makeSecret(kind)
      const now = yield* nowSeconds
      const row = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            const [taken] = yield* sql`
          SELECT id FROM credentials WHERE kind = ${kind} AND identity = ${identity(payload.name)}
            AND ${kind === "Smtp" ? sql`1 = 1` : sql`account = ${account}`}`
            if (taken !== undefined) return yield* new NameTaken({ name: payload.name })
            const [count] = yield* sql<{ readonly count: number }>`
          SELECT count(*) AS count FROM credentials WHERE account = ${account} AND kind = ${kind}`
            if (Number(count?.count ?? 0) >= maximumCredentials) {
              return yield* new TooManyCredentials({ maximum: maximumCredentials })
            }
            return yield* insertCredential(sql, {
              account,
              kind,
              name: payload.name,
              identity: identity(payload.name),
              accessLevels: levels,
              ipRanges: payload.ipRanges ?? [],
              expires: payload.expires == null ? null : toSeconds(payload.expires),
              now,
              secret
            })
          })
        )
        .pipe(Effect.catchIf(isSqlUniqueViolation, () => new NameTaken({ name: payload.name })))
      return { ...toAnswer(row), token: secret }
    },
    orStoreFailure(operation("Post"))
  )

  const update = Effect.fn(span("update"))(
    function* (name: string, payload: P) {
      yield* checkPayload(payload)
      const caller = yield* Caller
      const levels = accessLevels(payload)
      yield* checkLevels(operation("ByNamePut"), caller, levels)
      yield* checkExpiry(payload.expires)
      const row = yield* findRow(yield* accountOf(caller, payload.subaccount), name)
      const changes = {
        name: payload.name,
        identity: identity(payload.name),
        access_levels: JSON.stringify(levels),
        ...(payload.expires === undefined
          ? {}
          : { expires: payload.expires === null ? null : toSeconds(payload.expires) }),
        ...(payload.ipRanges === undefined ? {} : { ip_ranges: JSON.stringify(payload.ipRanges) })
      }
      const [changed] = yield* sql<CredentialRow>`
      UPDATE credentials SET ${sql.update(changes)} WHERE id = ${row.id} RETURNING *`.pipe(
        Effect.catchIf(isTaken, () => new NameTaken({ name: payload.name }))
      )
      return changed === undefined ? yield* new CredentialNotFound({ name }) : toAnswer(changed)
    },
    orStoreFailure(operation("ByNamePut"))
  )

  const delete_ = Effect.fn(span("delete"))(
    function* (name: string, of: OfSubaccount = {}) {
      const row = yield* findRow(yield* accountOf(yield* Caller, of.subaccount), name)
      yield* sql`DELETE FROM credentials WHERE id = ${row.id}`
    },
    orStoreFailure(operation("ByNameDelete"))
  )

  return { list, get, create, update, delete: delete_ }
}

const isSqlUniqueViolation = (error: { readonly _tag: string }): error is SqlError.SqlError =>
  error._tag === "SqlError" && isTaken(error as SqlError.SqlError)

/**
 * Writes a credential; the secret itself goes no further than its digest.
 *
 * @internal
 */
export const insertCredential = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  credential: {
    readonly account: string
    readonly kind: CredentialKind
    readonly name: string
    readonly identity: string
    readonly accessLevels: ReadonlyArray<AccessLevel>
    readonly ipRanges: ReadonlyArray<string>
    readonly expires: number | null
    readonly now: number
    readonly secret: Redacted.Redacted<string>
  }
) {
  const secret = Redacted.value(credential.secret)
  const [row] = yield* sql<CredentialRow>`
    INSERT INTO credentials ${sql.insert({
      account: credential.account,
      kind: credential.kind,
      name: credential.name,
      identity: credential.identity,
      access_levels: JSON.stringify(credential.accessLevels),
      ip_ranges: JSON.stringify(credential.ipRanges),
      date_created: credential.now,
      expires: credential.expires,
      secret_digest: digestOf(secret),
      secret_hint: hintOf(credential.kind, secret)
    })} RETURNING *`
  return row ?? (yield* Effect.die(new Error("an insert gave no row")))
})
