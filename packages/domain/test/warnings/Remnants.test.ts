/** What programs leave in texts, as they and the encoders of the platform write it. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { looksEscaped, standsForNothing } from "../../src/warnings/Remnants.ts"

/** A name with a character that is more than ASCII. */
const Name = Schema.String.check(Schema.isPattern(/^[A-Z][a-zäöüßéèñçłşığ]{0,6}[äöüßéñçł][a-z]{1,6}$/))

const codes = (text: string, of: (code: number) => string): string =>
  text.replaceAll(/[^\0-\x7f]/gu, (character) => of(character.codePointAt(0) ?? 0))

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0")

/** How programs escape a text. */
const escapes: ReadonlyArray<readonly [what: string, escape: (text: string) => string]> = [
  ["the address of a page", encodeURIComponent],
  ["HTML, by number", (text) => codes(text, (code) => `&#${code};`)],
  ["HTML, by number in hexadecimal", (text) => codes(text, (code) => `&#x${hex(code, 1)};`)],
  ["HTML, twice", (text) => codes(text, (code) => `&amp;#${code};`)],
  ["JSON", (text) => codes(text, (code) => `\\u${hex(code, 4)}`)],
  ["a program", (text) => codes(text, (code) => `\\u{${hex(code, 1)}}`)],
  ["a workbook", (text) => codes(text, (code) => `_x${hex(code, 4)}_`)],
  [
    "a mail",
    (text) =>
      Array.from(Buffer.from(text), (byte) =>
        byte > 0x7f ? `=${hex(byte, 2).toUpperCase()}` : String.fromCharCode(byte)
      ).join("")
  ],
  ["the header of a mail", (text) => `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`]
]

describe("a text that is still escaped", () => {
  it.prop("is known as each of these writes it, and not as it is", [Name], ([name]) => {
    assert.isFalse(looksEscaped(name), name)
    for (const [what, escape] of escapes) assert.isTrue(looksEscaped(escape(name)), `${what}: ${escape(name)}`)
  })

  it.each([
    "Tom &amp; Jerry",
    "M&uuml;ller",
    "M=FCller",
    "O\\'Neil",
    "1 Main St\\nTown",
    "a\\r\\nb",
    "Ann%20Lee",
    "ann%40example.com",
    "ann_x000D_"
  ])("is %s", (text) => assert.isTrue(looksEscaped(text)))

  it.each([
    "AT&T",
    "Tom & Jerry; and others",
    "R&D; sales",
    "100%",
    "50% off",
    "5%20",
    "a=b",
    "x=3",
    "C:\\new\\names",
    "\\\\server\\new",
    "https://example.com/M%C3%BCller?a=1&b=2",
    "www.example.com/a%20b",
    "snake_x0_case",
    "plan_x12",
    "\\o/"
  ])("is not %s", (text) => assert.isFalse(looksEscaped(text)))
})

describe("a text that stands for nothing", () => {
  it.each([
    "#N/A",
    "#REF!",
    "#VALUE!",
    "#NAME?",
    "#DIV/0!",
    "#NULL!",
    "#NUM!",
    "#SPILL!",
    "#CALC!",
    "#ERROR!",
    "Err:502",
    "#####",
    "#NV",
    "#BEZUG!",
    "#WERT!",
    "#VALEUR!",
    "#NOM?",
    "#¡REF!",
    "#¿NOMBRE?",
    "#RIF!",
    "#ССЫЛКА!",
    "#Н/Д",
    "#N/D",
    "NULL",
    "null",
    "nan",
    "NaN",
    "NA",
    "N/A",
    "n/a",
    "None",
    "nil",
    "undefined",
    "\\N",
    "(null)",
    "<NA>",
    "<null>",
    "NaT",
    "(blank)",
    "[object Object]",
    "Invalid Date",
    "%!s(<nil>)",
    "0000-00-00",
    "0000-00-00 00:00:00",
    "00.00.0000",
    "1900-01-00"
  ])("is %s, whatever the blanks around it", (text) => {
    assert.isTrue(standsForNothing(text))
    assert.isTrue(standsForNothing(` ${text} `))
  })

  it.each([
    "Null",
    "Nan",
    "Na",
    "Nil",
    "none",
    "no",
    "-",
    "?",
    "0",
    "#1",
    "#welcome",
    "# 1!",
    "2000-01-01",
    "1900-01-01",
    "Nulls",
    "Berlin N/A"
  ])("is not %s", (text) => assert.isFalse(standsForNothing(text)))
})
