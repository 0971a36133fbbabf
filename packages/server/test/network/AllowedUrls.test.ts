import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { checkUrl, isAllowedUrlEntry } from "../../src/network/AllowedUrls.ts"

const href = (address: string, allowed: ReadonlyArray<string>) =>
  Effect.map(checkUrl(address, allowed), (url) => url.href)

const reason = (address: string, allowed: ReadonlyArray<string>) =>
  Effect.map(Effect.flip(checkUrl(address, allowed)), (error) => error.reason)

describe("what is allowed", () => {
  it.effect.each([
    {
      entry: "files.example.com",
      address: "https://files.example.com/a.csv?x=1#y",
      href: "https://files.example.com/a.csv?x=1"
    },
    { entry: "files.example.com", address: "http://FILES.example.com.:8080/", href: "http://files.example.com:8080/" },
    { entry: "Files.Example.COM.", address: "https://files.example.com", href: "https://files.example.com/" },
    {
      entry: "files.example.com:8080",
      address: "http://files.example.com:8080",
      href: "http://files.example.com:8080/"
    },
    { entry: "files.example.com:443", address: "https://files.example.com", href: "https://files.example.com/" },
    { entry: "files.example.com:80", address: "http://files.example.com:80", href: "http://files.example.com/" },
    { entry: "bücher.example", address: "https://xn--bcher-kva.example/", href: "https://xn--bcher-kva.example/" },
    { entry: "xn--bcher-kva.example", address: "https://BÜCHER.example/", href: "https://xn--bcher-kva.example/" },
    { entry: "::1", address: "http://[0:0:0:0:0:0:0:1]:1/", href: "http://[::1]:1/" },
    { entry: "[::1]:9", address: "http://[::1]:9/", href: "http://[::1]:9/" },
    { entry: "127.0.0.1", address: "http://0x7f000001:9/", href: "http://127.0.0.1:9/" },
    { entry: "any", address: "https://files.example.com/", href: "https://files.example.com/" },
    { entry: "ANY", address: "http://files.example.com:443/", href: "http://files.example.com:443/" }
  ])("$entry allows $address", ({ address, entry, href: expected }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* href(address, ["other.example", entry]), expected)
    })
  )

  it.effect("a listed host beside any keeps its ports", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* href("http://db.example:8080/", ["any", "db.example"]), "http://db.example:8080/")
      assert.include(yield* reason("http://x.example:8080/", ["any", "db.example"]), "port 8080")
    })
  )
})

describe("what is refused", () => {
  it.effect.each([
    { allowed: [], address: "https://files.example.com/", says: "allow the host" },
    { allowed: ["example.com"], address: "https://files.example.com/", says: "allow that host" },
    { allowed: ["example.com"], address: "https://example.com.evil.example/", says: "is not allowed" },
    { allowed: ["example.com"], address: "https://example.com@evil.example/", says: "user name" },
    { allowed: ["example.com"], address: "https://evil.example/#@example.com", says: "is not allowed" },
    { allowed: ["example.com"], address: "https://evil.example\\@example.com/", says: "is not allowed" },
    { allowed: ["example.com:8080"], address: "http://example.com/", says: "is not allowed" },
    { allowed: ["example.com:80"], address: "https://example.com/", says: "is not allowed" },
    { allowed: ["localhost"], address: "http://127.0.0.1/", says: "is not allowed" },
    {
      allowed: ["https://example.com", "example.com/", "*.com", "a@example.com", ""],
      address: "https://example.com/",
      says: "is not allowed"
    },
    { allowed: ["https://example.com"], address: "https://https/", says: "is not allowed" },
    { allowed: ["any"], address: "http://example.com:22/", says: "port 22" },
    { allowed: ["any"], address: "http://example.com:6379/", says: "port 6379" },
    { allowed: ["any"], address: "file:///etc/passwd", says: "http:" },
    { allowed: ["any"], address: "data:text/csv,email", says: "http:" },
    { allowed: ["any"], address: "gopher://example.com/_x", says: "http:" },
    { allowed: ["any"], address: "ftp://example.com/", says: "http:" },
    { allowed: ["any"], address: "http://example..com/", says: "part of the host name is empty" },
    { allowed: ["any"], address: "http://./", says: "part of the host name is empty" },
    { allowed: ["any"], address: "http://[fe80::1%25eth0]/", says: "not an address" },
    { allowed: ["any"], address: "contacts.csv", says: "not an address" },
    { allowed: ["any"], address: "", says: "not an address" },
    { allowed: ["any"], address: `https://example.com/${"a".repeat(8_192)}`, says: "at most 8192" }
  ])("S50 $address where $allowed is allowed", ({ address, allowed, says }) =>
    Effect.gen(function* () {
      assert.include(yield* reason(address, allowed), says)
    })
  )

  it.effect.each([
    "https://ann:hunter2@example.com/",
    "https://ann@example.com:22/",
    "ann:hunter2@example.com",
    "https://ann:hunter2@example.com:99999/",
    "https://evil.example:22/?token=hunter2#ann"
  ])("S50 without repeating the credentials of %s", (address) =>
    Effect.gen(function* () {
      for (const allowed of [[], ["any"], ["example.com"]]) {
        assert.notMatch(yield* reason(address, allowed), /ann|hunter2/)
      }
    })
  )
})

describe("entries", () => {
  it("that can be understood are told from those that allow nothing", () => {
    for (const entry of ["any", "example.com", "example.com:8080", "[::1]:80", "::1", "10.0.0.1", "bücher.example"]) {
      assert.isTrue(isAllowedUrlEntry(entry), entry)
    }
    for (const entry of [
      "",
      " ",
      "https://example.com",
      "example.com/",
      "*.example.com",
      "a@b",
      "a:99999",
      "a,b c",
      "10.0.0.0/8"
    ]) {
      assert.isFalse(isAllowedUrlEntry(entry), entry)
    }
  })
})
