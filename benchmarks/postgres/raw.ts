/** The reference for calls: `node:http` and `pg`, with nothing between. Each call is one prepared statement. */
import { randomBytes, timingSafeEqual } from "node:crypto"
import { writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { Pool, types } from "pg"
import { contactOf, digestOf, type Payload } from "../service/Contract.ts"
import { rawServer } from "../service/rawServer.ts"
import { argument, listening } from "../src/Trial.ts"
import { merged, table } from "./Table.ts"

type Row = Readonly<Record<string, unknown>>

// Whole numbers of 8 bytes as numbers.
types.setTypeParser(types.builtins.INT8, Number)

const pool = new Pool({ connectionString: argument("database"), max: 10 })
await pool.query("CREATE TABLE keys (digest BYTEA PRIMARY KEY, account TEXT NOT NULL)")
await pool.query(table)
const key = randomBytes(32).toString("hex")
await pool.query("INSERT INTO keys VALUES ($1, '')", [digestOf(key)])
writeFileSync(`${argument("store")}.key`, key)

const ask = async (name: string, text: string, values: ReadonlyArray<unknown>): Promise<ReadonlyArray<Row>> =>
  (await pool.query<Row>({ name, text, values: [...values] })).rows

const upsert = `
  INSERT INTO contacts (account, identity, email, status, first_name, last_name, custom_fields, source, date_added)
  SELECT $1, identity, email, coalesce(status, 'Active'), first_name, last_name, custom_fields, 'ContactApi', $2
  FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    AS given (identity, email, status, first_name, last_name, custom_fields)
  ${merged} RETURNING *`

const server = rawServer({
  accountOf: async (given) => {
    if (typeof given !== "string") return undefined
    const digest = digestOf(given)
    const [row] = await ask("key", "SELECT digest, account FROM keys WHERE digest = $1", [digest])
    const known = row?.["digest"]
    return known instanceof Uint8Array && timingSafeEqual(known, digest) ? String(row?.["account"]) : undefined
  },
  get: async (account, email) => {
    const [row] = await ask("get", "SELECT * FROM contacts WHERE account = $1 AND identity = $2", [
      account,
      email.trim().toLowerCase()
    ])
    return row === undefined ? undefined : contactOf(row)
  },
  add: async (account, payloads) => {
    const of = (read: (payload: Payload) => unknown) => payloads.map((payload) => read(payload) ?? null)
    const rows = await ask("add", upsert, [
      account,
      Math.floor(Date.now() / 1000),
      of(({ Email }) => Email.trim().toLowerCase()),
      of(({ Email }) => Email.trim()),
      of(({ Status }) => Status),
      of(({ FirstName }) => FirstName),
      of(({ LastName }) => LastName),
      of(({ CustomFields = {} }) => JSON.stringify(CustomFields))
    ])
    return rows.map(contactOf)
  }
})

// A server that listens on a port has an address of that kind.
server.listen(0, "127.0.0.1", () => listening((server.address() as AddressInfo).port))
