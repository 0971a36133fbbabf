import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { EmailAddress, emailAddressIssue, canonicalEmail } from "../../src/contacts/EmailAddress.ts"

const domainOf = (length: number): string => {
  const labels = "d".repeat(length - 4).replaceAll(/(.{61})./g, "$1.")
  return `${labels}.com`
}

const accepted: ReadonlyArray<readonly [why: string, email: string]> = [
  ["the plain form", "name@example.com"],
  ["capitals", "Name.Surname@Example.COM"],
  ["a one-letter local part", "a@example.com"],
  ["signs that a path, a query or SQL would trip over", "o'brien/a?b#c%d&e=f+g@example.com"],
  ["the other signs of a dot-atom", "!$*-^_`{|}~@example.com"],
  ["letters of any script", "łukasz.żółć@przykład.pl"],
  ["an emoji", "😀@example.com"],
  ["a local part of 64 characters", `${"a".repeat(64)}@example.com`],
  ["254 characters in all", `${"a".repeat(60)}@${domainOf(193)}`],
  ["a domain of one label", "root@localhost"],
  ["hyphens and digits in a domain", "a@9-9.example-1.org"],
  ["a domain in punycode", "a@xn--bcher-kva.example"]
]

const refused: ReadonlyArray<readonly [why: string, email: string]> = [
  ["nothing", ""],
  ["no @", "name.example.com"],
  ["no local part", "@example.com"],
  ["no domain", "name@"],
  ["a second @", "a@b@example.com"],
  ["a quoted second @", '"a@b"@example.com'],
  ["a space inside", "a b@example.com"],
  ["a space in front", " a@example.com"],
  ["a space behind", "a@example.com "],
  ["a no-break space", "a\u00a0b@example.com"],
  ["a tab", "a\tb@example.com"],
  ["a line break", "a@example.com\n"],
  ["a header injection", "a@example.com\r\nBcc: b@example.com"],
  ["a NUL", "a\0b@example.com"],
  ["a C1 control character", "a\u0085b@example.com"],
  ["a lone surrogate", "a\ud800@example.com"],
  ["a lone surrogate in the domain", "a@exam\udc00ple.com"],
  ["a dot in front", ".a@example.com"],
  ["a dot behind", "a.@example.com"],
  ["two dots in a row", "a..b@example.com"],
  ["a comma, which would split a list", "a,b@example.com"],
  ["angle brackets", "<a@example.com>"],
  ["a name with its address", "A <a@example.com>"],
  ["a domain with an empty label", "a@example..com"],
  ["a domain with a dot behind", "a@example.com."],
  ["a domain with a hyphen in front", "a@-example.com"],
  ["a domain with a slash", "a@example.com/x"],
  ["a local part of 65 characters", `${"a".repeat(65)}@example.com`],
  ["255 characters in all", `${"a".repeat(60)}@${domainOf(194)}`]
]

describe("EmailAddress", () => {
  it("measures the long addresses of this test", () => {
    assert.deepStrictEqual([accepted[8]?.[1].length, refused.at(-1)?.[1].length], [254, 255])
  })

  it.each(accepted)("accepts %s", (_, email) => {
    assert.isUndefined(emailAddressIssue(email))
    assert.strictEqual<string>(Schema.decodeSync(EmailAddress)(email), email)
  })

  it.each(refused)("refuses %s", (_, email) => {
    assert.isString(emailAddressIssue(email))
    assert.isFalse(Schema.is(EmailAddress)(email))
  })

  it("says what is wrong without repeating the address", () => {
    for (const [, email] of refused) {
      if (email.length > 3) assert.notInclude(emailAddressIssue(email) ?? "", email)
    }
  })
})

describe("canonicalEmail", () => {
  it.each([
    ["case", "Name@Example.COM", "name@example.com"],
    ["space at the ends", "  name@example.com\t", "name@example.com"],
    ["composition", "cafe\u0301@example.com", "caf\u00e9@example.com"],
    ["all of them at once", " CAFE\u0301@EXAMPLE.com ", "caf\u00e9@example.com"],
    ["an accent that has a composed form in lower case only", "J\u030c@example.com", "\u01f0@example.com"],
    ["a script without case", "用户@例子.测试", "用户@xn--fsqu00a.xn--0zwm56d"],
    ["the way a domain is written", "a@BU\u0308CHER.example", "a@xn--bcher-kva.example"],
    ["what stands for a domain on its way", "a@XN--BCHER-KVA.Example", "a@xn--bcher-kva.example"],
    ["what a domain could not be", "a@xn--\u0301/x.example", "a@xn--\u0301/x.example"]
  ])("does not depend on %s", (_, spelling, identity) => {
    assert.strictEqual(canonicalEmail(spelling), identity)
  })

  it("keeps apart what only looks alike", () => {
    // A Cyrillic а, a plus address and a dot: three other people.
    const identities = ["ada@example.com", "аda@example.com", "ada+x@example.com", "a.da@example.com"].map(
      canonicalEmail
    )
    assert.strictEqual(new Set(identities).size, 4)
  })

  const piece = Schema.Literals([
    "a",
    "B",
    "É",
    "e\u0301",
    "J",
    "\u030c",
    "\u0307",
    "Σ",
    "ß",
    "ǅ",
    "\u212b",
    "ﬁ",
    " ",
    ".",
    "@",
    "xn--"
  ])
  it.prop("is its own identity", [Schema.Array(piece)], ([pieces]) => {
    const identity = canonicalEmail(pieces.join(""))
    assert.strictEqual(canonicalEmail(identity), identity)
  })

  it("is one for every character, in each case and composition", () => {
    // Each letter with an accent that some letters compose with, and with one that none does.
    for (let code = 0xa0; code <= 0xffff; code++) {
      const letter = String.fromCodePoint(code)
      if (!/^[\p{L}\p{N}]$/u.test(letter)) continue
      const spelling = `${letter}\u030c${letter}\u0323.x@example.com`
      const identity = canonicalEmail(spelling)
      for (const form of ["NFC", "NFD"]) {
        assert.strictEqual(canonicalEmail(spelling.normalize(form)), identity, code.toString(16))
        assert.strictEqual(canonicalEmail(spelling.toLowerCase().normalize(form)), identity, code.toString(16))
      }
    }
  })
})
