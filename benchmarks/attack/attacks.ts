/** What the holder of a key, or of none, can do at worst. */
import type { AccessLevel } from "@roster/domain"
import { deflateRawSync } from "node:zlib"
import { setTimeout } from "node:timers/promises"
import { again, type Call, type Target } from "./Target.ts"

export interface Attack {
  readonly name: string
  /** The level of the weakest key that can do it (default: no key at all). */
  readonly level?: AccessLevel
  /** By how many MiB the store and its temporary files may grow meanwhile: what the quotas allow, and the WAL. */
  readonly growthMiB: number
  /** Makes what is sent. */
  readonly prepare: () => (target: Target) => Promise<unknown>
}

/** The files of a store without any work: a WAL of the longest kind. */
const walMiB = 64

/** 1000 contacts of the largest size, twice: once with the WAL. */
const contactsMiB = 32 + walMiB + 32

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** Custom fields of so many names with texts of so many characters. */
const fieldsOf = (count: number, length: number, sign = "x"): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, sign.repeat(length)]))

/** Contacts of almost 32 KiB, as many as one add takes. */
const largest = (of: (index: number) => string, sign: string) =>
  Array.from({ length: 250 }, (_, index) => ({ Email: of(index), CustomFields: fieldsOf(100, 310, sign) }))

/** 1000 contacts of the largest size are there before the attacks: four adds of so many. */
export const largeContacts = (sign = "x", from = 0): Buffer =>
  json(largest((index) => `large${from + index}@example.com`, sign))

/** Where those contacts begin among all, for a page of them. */
export const knownContacts = 100_000

/** Who may send. */
export const allowedSender = "a@example.com"

const post = (path: string, body: Buffer): Call => ({ method: "POST", path, body })
const get = (path: string): Call => ({ method: "GET", path })

/** Rules that no contact fits, of so many conditions on texts and custom fields. */
const rule = (conditions: number): string =>
  Array.from({ length: conditions }, (_, index) =>
    index % 2 === 0 ? `firstname contains "q${index}q"` : `city contains "z${index}z"`
  ).join(" OR ")

/** The same, of so many custom fields, as short as the head of a request needs. */
const unfitting = (conditions: number): string =>
  Array.from({ length: conditions }, (_, index) => `f${index}='y'`).join("+OR+")

const boundary = "roster-attack"
const form = (...parts: ReadonlyArray<string | Buffer>): Buffer =>
  Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from(`--${boundary}--\r\n`)])
const part = (name: string, content: string | Buffer, file?: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; ` +
        `name="${name}"${file === undefined ? "" : `; filename="${file}"`}\r\n\r\n`
    ),
    Buffer.from(content),
    Buffer.from("\r\n")
  ])
const upload = (body: Buffer): Call => ({
  ...post("/contacts/import", body),
  type: `multipart/form-data; boundary=${boundary}`
})

/** A CSV file of so many rows with 250 custom fields of 100 characters. */
const wideRows = (rows: number): Buffer => {
  const fields = Object.keys(fieldsOf(250, 1))
  const values = fields.map(() => "v".repeat(100)).join(",")
  const lines = Array.from({ length: rows }, (_, index) => `wide${index}@example.com,${values}`)
  return Buffer.from([`Email,${fields.join(",")}`, ...lines, ""].join("\n"))
}

/** An archive of one file of zeros, which is 1000 times as large as its archive. */
const zipOf = (name: string, mebibytes: number): Buffer => {
  const data = deflateRawSync(Buffer.alloc(mebibytes * 1024 * 1024))
  const size = mebibytes * 1024 * 1024
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0)
  shared.writeUInt16LE(8, 4)
  shared.writeUInt32LE(data.length, 14)
  shared.writeUInt32LE(size, 18)
  shared.writeUInt16LE(name.length, 22)
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name)])
  const central = Buffer.concat([
    Buffer.from("PK\x01\x02"),
    Buffer.from([20, 0]),
    shared,
    Buffer.alloc(14),
    Buffer.from(name)
  ])
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06", "latin1")
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length + data.length, 16)
  return Buffer.concat([local, data, central, end])
}

const ranges = (of: number): ReadonlyArray<string> =>
  Array.from({ length: 256 }, (_, index) => `10.${of % 256}.${index}.0/24`)
const keyPayload = (name: string, of: number): Buffer =>
  json({
    Name: name,
    AccessLevel: ["ModifyAccessTokens"],
    RestrictAccessToIPRange: ["127.0.0.0/8", ...ranges(of).slice(1)]
  })

/** Opens so many connections, says something on each now and then, and opens those again that were closed. */
const keepOpen = (count: number, first: (target: Target) => string, rest: string) => () => async (target: Target) => {
  const hold = async () => {
    while (!target.isOver()) {
      const socket = await target.open().catch(() => undefined)
      if (socket === undefined) {
        await setTimeout(100)
        continue
      }
      socket.on("error", () => socket.destroy())
      socket.pause()
      socket.write(first(target))
      while (!target.isOver() && !socket.destroyed) {
        await setTimeout(500)
        if (socket.writable && rest !== "") socket.write(rest)
      }
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: count }, hold))
}

/** Asks for an export of everything and reads its file slowly over many connections. */
const slowDownloads = () => async (target: Target) => {
  const link = /"Link":"[^"]*\/v4([^"]*)"/.exec(await target.send(post("/contacts/export", Buffer.alloc(0))))?.[1]
  if (link === undefined) throw new Error("there is no link to an export")
  await setTimeout(2000)
  await keepOpen(64, ({ head }) => `${head("GET", link)}\r\n`, "")()(target)
}

const modify = "ModifyContacts"

/** Each begins on the store that the one before it left. */
export const attacks: ReadonlyArray<Attack> = [
  {
    name: "add 250 contacts of 32 KiB",
    level: modify,
    growthMiB: contactsMiB,
    prepare: () => again(1, [post("/contacts", largeContacts("y")), post("/contacts", largeContacts("z"))])
  },
  {
    name: "the same, 8 at once, with Idempotency-Keys",
    level: modify,
    growthMiB: 1024 + contactsMiB,
    prepare: () =>
      again(
        8,
        ["y", "z"].map((sign) => ({ ...post("/contacts", largeContacts(sign)), isKeyed: true }))
      )
  },
  {
    name: "250 fields of 100 characters into one contact, 290 times in an add",
    level: modify,
    growthMiB: contactsMiB,
    prepare: () => {
      const elements = (sign: string) =>
        Array.from({ length: 290 }, (_, index) => ({
          Email: "one@example.com",
          CustomFields: { ...fieldsOf(249, 100, sign), changes: String(index) }
        }))
      return again(
        2,
        ["y", "z"].map((sign) => post("/contacts", json(elements(sign))))
      )
    }
  },
  {
    name: "add 8 MiB of escapes",
    level: modify,
    growthMiB: contactsMiB,
    prepare: () => {
      const escaped = `{"Email":"escaped@example.com","CustomFields":{"a":"${"\\u0041".repeat(5000)}","\\u0062":"c"}}`
      return again(2, [post("/contacts", Buffer.from(`[${Array.from({ length: 270 }, () => escaped).join()}]`))])
    }
  },
  {
    name: "add 8 MiB with a letter that takes two bytes",
    level: modify,
    growthMiB: contactsMiB,
    prepare: () => {
      const wide = `{"Email":"wide@example.com","CustomFields":{"a":"\u0436${"a".repeat(32_000)}","\\u0062":"c"}}`
      return again(2, [post("/contacts", Buffer.from(`[${Array.from({ length: 255 }, () => wide).join()}]`))])
    }
  },
  {
    name: "add 1000 small contacts, 16 at once",
    level: modify,
    growthMiB: 256,
    prepare: () =>
      again(16, [
        post("/contacts", json(Array.from({ length: 1000 }, (_, index) => ({ Email: `small${index}@example.com` }))))
      ])
  },
  {
    name: "add contacts of 31 KiB in all, 64 at once",
    level: modify,
    growthMiB: 256,
    prepare: () =>
      again(64, [
        post("/contacts", json(Array.from({ length: 950 }, (_, index) => ({ Email: `small${index}@example.com` }))))
      ])
  },
  {
    name: "pages of 1000 contacts of 32 KiB, 16 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () => again(16, [get(`/contacts?limit=1000&offset=${knownContacts}`)])
  },
  {
    name: "pages of 1000 contacts, 16 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () =>
      again(
        16,
        [0, 20_000, 50_000].map((offset) => get(`/contacts?limit=1000&offset=${offset}`))
      )
  },
  {
    name: "pages beyond the last contact, 16 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () => again(16, [get("/contacts?limit=1000&offset=1000000")])
  },
  {
    name: "a page by a rule of 50 conditions, 16 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () => again(16, [get(`/contacts?limit=1000&rule=${encodeURIComponent(rule(50))}`)])
  },
  {
    name: "a page by a rule of one condition, 16 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () => again(16, [get(`/contacts?limit=1&offset=100000&rule=${encodeURIComponent(rule(1))}`)])
  },
  {
    name: "a page by a rule of 900 custom fields, 14 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () => again(14, [get(`/contacts?rule=${unfitting(900)}`)])
  },
  {
    name: "pages at a large offset, 100 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () => again(100, [get(`/contacts?limit=1000&offset=${knownContacts - 5000}`)])
  },
  {
    name: "delete by a rule of 800 conditions, 16 at once",
    level: modify,
    growthMiB: walMiB,
    prepare: () => again(16, [post("/contacts/delete", json({ Rule: rule(800) }))])
  },
  {
    name: "delete by a rule of one condition, 4 at once",
    level: modify,
    growthMiB: walMiB,
    prepare: () => again(4, [post("/contacts/delete", json({ Rule: rule(1) }))])
  },
  {
    name: "delete 8 MiB of addresses, 4 at once",
    level: modify,
    growthMiB: walMiB,
    prepare: () => {
      const Emails = Array.from({ length: 100_000 }, (_, index) => `${"n".repeat(50)}${index}@nobody.example.com`)
      return again(4, [post("/contacts/delete", json({ Emails }))])
    }
  },
  {
    name: "delete 31 KiB of addresses, 64 at once",
    level: modify,
    growthMiB: walMiB,
    prepare: () => {
      const Emails = Array.from({ length: 1200 }, (_, index) => `nobody${index}@example.com`)
      return again(64, [post("/contacts/delete", json({ Emails }))])
    }
  },
  {
    name: "2 MiB of depth, numbers, escapes and repeated names",
    level: modify,
    growthMiB: walMiB,
    prepare: () =>
      again(
        16,
        [
          "[".repeat(2_000_000),
          `[${"1,".repeat(1_000_000)}1]`,
          `{"FirstName":"${"\\u0041".repeat(340_000)}"}`,
          `{"FirstName":${"9".repeat(2_000_000)}}`,
          `{${Array.from({ length: 9000 }, (_, index) => `"${"n".repeat(200)}${index}":1`).join()},"FirstName":1,"FirstName":2}`
        ].map((body) => ({ method: "PUT", path: "/contacts/large0%40example.com", body: Buffer.from(body) }))
      )
  },
  {
    name: "e-mails of 28 MiB, 4 at once",
    level: "SendHttp",
    growthMiB: 2048 + walMiB,
    prepare: () => {
      const BinaryContent = "QUJD".repeat(6_500_000)
      const Attachments = [{ BinaryContent, Name: "a.txt" }]
      return again(4, [
        post(
          "/emails",
          json({
            Recipients: [{ Email: "to@example.com" }],
            Content: { From: allowedSender, Subject: "x", Attachments }
          })
        )
      ])
    }
  },
  {
    name: "e-mails to 800 people, 64 at once",
    level: "SendHttp",
    growthMiB: 2048 + walMiB,
    prepare: () => {
      const Recipients = Array.from({ length: 800 }, (_, index) => ({ Email: `to${index}@example.com` }))
      return again(64, [post("/emails", json({ Recipients, Content: { From: allowedSender, Subject: "x" } }))])
    }
  },
  {
    name: "imports of wide rows, 4 at once",
    level: modify,
    growthMiB: 4096 + 256,
    prepare: () => again(4, [upload(form(part("file", wideRows(200), "wide.csv")))])
  },
  {
    name: "imports of an archive of zeros, 4 at once",
    level: modify,
    growthMiB: 4096,
    prepare: () => again(4, [upload(form(part("file", zipOf("zeros.csv", 512), "zeros.zip")))])
  },
  {
    name: "forms of 10,000 parts, 16 at once",
    level: modify,
    growthMiB: walMiB,
    prepare: () => again(16, [upload(form(...Array.from({ length: 10_000 }, (_, index) => part(`p${index}`, "x"))))])
  },
  {
    name: "exports, 16 at once",
    level: "Export",
    growthMiB: 4096,
    prepare: () =>
      again(16, [
        post("/contacts/export?compressionFormat=Zip", Buffer.alloc(0)),
        post("/contacts/export", Buffer.alloc(0))
      ])
  },
  { name: "slow downloads", level: "Export", growthMiB: 256, prepare: slowDownloads },
  {
    name: "keys of 256 ranges, made, changed and deleted",
    level: "ModifyAccessTokens",
    growthMiB: walMiB,
    prepare: () =>
      again(
        4,
        Array.from({ length: 5 }, (_, index) => [
          post("/security/apikeys", keyPayload(`attack${index}`, index)),
          { method: "PUT", path: `/security/apikeys/attack${index}`, body: keyPayload(`attack${index}`, index + 1) },
          { method: "DELETE", path: `/security/apikeys/attack${index}` }
        ]).flat()
      )
  },
  {
    name: "adds of one contact with Idempotency-Keys, 64 at once",
    level: modify,
    growthMiB: 1024,
    prepare: () => again(64, [{ ...post("/contacts", json([{ Email: "once@example.com" }])), isKeyed: true }])
  },
  {
    name: "wrong keys, 64 at once",
    growthMiB: walMiB,
    prepare: () =>
      again(
        64,
        ["roster_" + "a".repeat(45), "nonsense", ""].map((key) => ({ ...get("/contacts"), key }))
      )
  },
  {
    name: "odd paths and long queries, 64 at once",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: () =>
      again(
        64,
        [
          "/contacts/%zz",
          "/contacts/%00",
          `/contacts/${"%c3%a9".repeat(2000)}`,
          `/contacts?${"a=b&".repeat(3000)}`,
          `/contacts?rule=${"(".repeat(12_000)}`,
          `/contacts?rule=${"a".repeat(12_000)}`,
          `/${"../".repeat(4000)}`
        ].map(get)
      )
  },
  {
    name: "pages that nobody reads, over 250 connections",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: keepOpen(
      250,
      ({ head }) =>
        `${head("GET", "/contacts?limit=1000")}\r\n${head("GET", `/contacts?limit=20&offset=${knownContacts}`)}\r\n`,
      ""
    )
  },
  {
    name: "pages that nobody reads, 50 asked for at once over each of 100 connections",
    level: "ViewContacts",
    growthMiB: walMiB,
    prepare: keepOpen(100, ({ head }) => `${head("GET", "/contacts?limit=1000")}\r\n`.repeat(50), "")
  },
  {
    name: "answers of 32 MiB to 29 KB that nobody reads, over 30 connections",
    level: modify,
    growthMiB: contactsMiB,
    prepare: () => {
      const body = json(Array.from({ length: 1000 }, (_, index) => ({ Email: `large${index}@example.com` }))).toString()
      const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      return keepOpen(30, ({ head }) => `${head("POST", "/contacts")}${rest}`, "")()
    }
  },
  {
    name: "2000 connections with slow heads",
    growthMiB: walMiB,
    prepare: keepOpen(2000, ({ head }) => head("GET", "/contacts"), "X-More: more\r\n")
  },
  {
    name: "250 connections with slow bodies",
    level: modify,
    growthMiB: walMiB,
    prepare: keepOpen(
      250,
      ({ head }) =>
        `${head("POST", "/contacts")}Content-Type: application/json\r\nContent-Length: ` +
        `8300000\r\n\r\n[${" ".repeat(100_000)}`,
      " ".repeat(1000)
    )
  }
]
