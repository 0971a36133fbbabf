import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { makePathTable, type PathRoute } from "../../src/http/PathTable.ts"

const paths = [
  ["GET", "/v4/contacts"],
  ["GET", "/v4/contacts/:email"],
  ["DELETE", "/v4/contacts/:email"],
  ["POST", "/v4/contacts/export"],
  ["GET", "/v4/contacts/export/:id/status"],
  ["GET", "/v4/security/smtp/:name"],
  ["GET", "/v4/exports/:key/:name"]
] as const

const table = makePathTable(
  paths.map(([method, path]): PathRoute<string> => ({ method, path, handler: `${method} ${path}` }))
)

/** What was found, without the prototypes of its parts. */
const plainly = (found: ReturnType<typeof table.find>) =>
  found && { handler: found.handler, params: { ...found.params }, searchParams: { ...found.searchParams } }

describe("the table of paths", () => {
  it("finds a plain address in one step, and what is not plain in the table alone", () => {
    const email = { handler: "GET /v4/contacts/:email", params: { email: "a.b+c@example.com" }, searchParams: {} }
    assert.deepStrictEqual(plainly(table.findPlain("GET", "/v4/contacts/a.b+c%40example.com")), email)
    for (const value of ["a.b+c@example.com", "a.b%2Bc%40example.com", "a.b+c%40example.com?"]) {
      assert.isUndefined(table.findPlain("GET", `/v4/contacts/${value}`))
      assert.deepStrictEqual(plainly(table.find("GET", `/v4/contacts/${value}`)), email)
    }
  })

  const piece = Schema.Literals([
    "/v4/contacts",
    "/v4/contacts/",
    "/v4/security/smtp/",
    "/v4/exports/",
    "/V4/contacts/",
    "/export/",
    "/",
    "a",
    "Name_1",
    "example.com",
    "%40",
    "@",
    "%2F",
    "%00",
    "%C3%A9",
    "%",
    ".",
    "+",
    ";",
    "?",
    "#",
    " ",
    "a".repeat(64)
  ])
  const method = Schema.Literals(["GET", "DELETE", "POST", "HEAD"])
  it.prop(
    "finds in one step what the whole table finds, or nothing",
    [method, Schema.Array(piece)],
    ([method, pieces]) => {
      for (const start of ["", "/v4/contacts/", "/v4/contacts/a%40"]) {
        const url = start + pieces.join("")
        const found = table.findPlain(method, url)
        if (found !== undefined) assert.deepStrictEqual(plainly(found), plainly(table.find(method, url)), url)
      }
    }
  )
})
