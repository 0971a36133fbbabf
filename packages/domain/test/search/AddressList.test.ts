/** Pasted addresses: all that were written are found, each once, and what is none is named. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { canonicalEmail } from "../../src/contacts/EmailAddress.ts"
import { readAddressList } from "../../src/search/AddressList.ts"

const textMatching = (pattern: RegExp) => Arbitrary.schema(Schema.String.check(Schema.isPattern(pattern)))

const address = Arbitrary.map(
  Arbitrary.all([textMatching(/^[a-z][a-z0-9+_.]{0,6}[a-z0-9]$/), textMatching(/^[a-z][a-z0-9]{0,4}$/)]),
  ([local, domain]) => `${local.replaceAll(/\.+/g, ".")}@${domain}.example`
)

/** How programs and people write one address. */
const notations: ReadonlyArray<(address: string) => string> = [
  (address) => address,
  (address) => `<${address}>`,
  (address) => `Anna <${address}>`,
  (address) => `"C, D" <${address}>`,
  (address) => `"C; \\"D\\"" <${address}>`,
  (address) => `O'Hara, Anna (Sales, North) <${address}>`,
  (address) => `mailto:${address}`,
  (address) => `<mailto:${address}?subject=Hello>`,
  (address) => `"${address}" <${address}>`,
  (address) => `${address} (Anna)`,
  (address) => `'${address}'`,
  (address) => `\u200b${address}\u00a0`
]
const separators = [", ", "; ", ",", ";", "\n", "\r\n", ";\n", " ,\n\n"]

const place = (length: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: length - 1 })))

const written = Arbitrary.array(Arbitrary.all([address, place(notations.length), place(separators.length)]), {
  maxLength: 20
})

describe("pasted addresses", () => {
  it.prop("are found in every notation and with every separator, each once", [written], ([all]) => {
    const text = all
      .map(([address, notation, separator]) => `${notations[notation]?.(address)}${separators[separator]}`)
      .join("")
    const given = all.map(([address]) => address)
    const read = readAddressList(text)
    assert.deepStrictEqual(read.addresses, [...new Set(given)], text)
    assert.strictEqual(read.repeated.length, given.length - read.addresses.length, text)
    assert.deepStrictEqual(read.others, [], text)
  })

  it.prop("are of the cells of a spreadsheet those that are addresses", [written], ([all]) => {
    const rows = all.map(([address], index) => `Anna\tMeyer, Dr.\t${address}\t${index}`)
    const read = readAddressList(rows.join("\r\n"))
    assert.deepStrictEqual(read.addresses, [...new Set(all.map(([address]) => address))])
    assert.deepStrictEqual(read.others, [])
  })

  it.prop("lose nothing of any text that has an @", [Arbitrary.schema(Schema.String), written], ([noise, all]) => {
    const text = `${noise}\n${all.map(([address]) => `${address}${noise}`).join("\n")}`
    const { addresses, others, repeated } = readAddressList(text)
    const count = (texts: ReadonlyArray<string>) => texts.join("").split("@").length - 1
    const found = count(addresses) + count(repeated) + count(others.map(({ text }) => text))
    if (!/[<>]/.test(noise)) assert.isAtLeast(found, count([text]), JSON.stringify(text))
    assert.strictEqual(new Set(addresses.map(canonicalEmail)).size, addresses.length)
  })

  it.each([
    ["ann@@example.com", ["ann@example.com"]],
    ["ann at example.com", ["ann@example.com"]],
    ["a@x.de, bobx.de, c@y.de", [undefined]],
    ["bobx.de, Anna <a@x.de>", [undefined]],
    ["Name\nAnna", [undefined, undefined]],
    ["a@x.de|b@@y.de", [undefined]],
    ["a@x.de bob@@y.de", ["bob@y.de"]]
  ])("are told apart from %j, which is none", (text, meant) => {
    assert.deepStrictEqual(
      readAddressList(text).others.map((one) => one.meant),
      meant
    )
  })

  it.each([
    ["a@x.de b@y.de\tc@z.de", ["a@x.de", "b@y.de", "c@z.de"]],
    ["To: a@x.de, Cc: B <b@y.de>", ["a@x.de", "b@y.de"]],
    ["Team: a@x.de, b@y.de;", ["a@x.de", "b@y.de"]],
    ["• a@x.de\n- b@y.de\n1. c@z.de.", ["a@x.de", "b@y.de", "c@z.de"]],
    ["Meyer, Anna <a@x.de>; Beck, Bob, M.A. <b@y.de>", ["a@x.de", "b@y.de"]],
    ['"unclosed, Anna <a@x.de>, b@y.de', ["a@x.de", "b@y.de"]],
    ["<a@x.de><b@y.de>", ["a@x.de", "b@y.de"]],
    ["[a@x.de](mailto:a@x.de)", ["a@x.de"]],
    ["root@localhost", ["root@localhost"]],
    ["A@X.de, a@x.DE", ["A@X.de"]]
  ])("are found in %j", (text, addresses) => {
    const read = readAddressList(text)
    assert.deepStrictEqual([read.addresses, read.others.filter(({ text }) => text.includes("@"))], [addresses, []])
  })

  it("are read however many stand in a line", () => {
    const { addresses, repeated } = readAddressList("a@x.de ".repeat(140_000))
    assert.deepStrictEqual([addresses, repeated.length], [["a@x.de"], 139_999])
  })
})
