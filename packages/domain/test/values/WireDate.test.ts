import { afterEach, assert, describe, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"
import { formatWireDate, GivenDate, parseWireDate, WireDate } from "../../src/values/WireDate.ts"

const instant = (text: string): string | undefined => {
  const date = parseWireDate(text)
  return date === undefined ? undefined : new Date(DateTime.toEpochMillis(date)).toISOString()
}

const read: ReadonlyArray<readonly [why: string, text: string, iso: string]> = [
  ["the form that is sent", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"],
  ["milliseconds", "2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678Z"],
  ["one digit of a fraction", "2024-01-02T03:04:05.6Z", "2024-01-02T03:04:05.600Z"],
  ["nine digits of a fraction, cut and not rounded", "2024-01-02T03:04:05.999999999Z", "2024-01-02T03:04:05.999Z"],
  ["seven digits, as .NET writes them", "2024-01-02T03:04:05.1234567", "2024-01-02T03:04:05.123Z"],
  ["no zone: UTC", "2024-01-02T03:04:05", "2024-01-02T03:04:05.000Z"],
  ["a date alone", "2024-01-02", "2024-01-02T00:00:00.000Z"],
  ["no seconds", "2024-01-02T03:04Z", "2024-01-02T03:04:00.000Z"],
  ["a space for the T", "2024-01-02 03:04:05", "2024-01-02T03:04:05.000Z"],
  ["small letters", "2024-01-02t03:04:05z", "2024-01-02T03:04:05.000Z"],
  ["an offset to the east", "2024-01-02T03:04:05+05:30", "2024-01-01T21:34:05.000Z"],
  ["an offset to the west", "2024-12-31T23:00:00-08:00", "2025-01-01T07:00:00.000Z"],
  ["an offset without a colon", "2024-01-02T03:04:05+0200", "2024-01-02T01:04:05.000Z"],
  ["an offset of hours, as PostgreSQL prints it", "2024-01-02 03:04:05+00", "2024-01-02T03:04:05.000Z"],
  ["the same with microseconds", "2024-01-02 03:04:05.123456+01", "2024-01-02T02:04:05.123Z"],
  ["an offset with seconds, as PostgreSQL prints old ones", "1900-01-01 00:19:32+00:19:32", "1900-01-01T00:00:00.000Z"],
  ["UTC by its name, as Ruby prints it", "2024-01-02 03:04:05 UTC", "2024-01-02T03:04:05.000Z"],
  [
    "an offset behind a space, as SQL Server prints it",
    "2024-01-02 03:04:05.1234567 +02:00",
    "2024-01-02T01:04:05.123Z"
  ],
  ["an offset and its name, as Go prints it", "2024-01-02 03:04:05.123456789 +0000 UTC", "2024-01-02T03:04:05.123Z"],
  ["29 February of a leap year", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
  ["29 February of 2000", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
  ["year 1", "0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z"],
  ["year 99, which is not 1999", "0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000Z"],
  ["before 1970", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z"],
  ["the last second that has four digits", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"]
]

const refused: ReadonlyArray<readonly [why: string, text: string]> = [
  ["30 February", "2024-02-30T00:00:00Z"],
  ["29 February of a common year", "2023-02-29T00:00:00Z"],
  ["29 February of 1900", "1900-02-29T00:00:00Z"],
  ["31 April", "2024-04-31"],
  ["day 0", "2024-01-00T00:00:00Z"],
  ["month 0", "2024-00-01T00:00:00Z"],
  ["month 13", "2024-13-01T00:00:00Z"],
  ["24 o'clock", "2024-01-01T24:00:00Z"],
  ["minute 60", "2024-01-01T00:60:00Z"],
  ["an offset of 24 hours", "2024-01-01T00:00:00+24:00"],
  ["an offset of 60 minutes", "2024-01-01T00:00:00+00:60"],
  ["ten digits of a fraction", "2024-01-02T03:04:05.0123456789Z"],
  ["an American date", "01/02/2024"],
  ["a two-digit year", "24-01-02"],
  ["a five-digit year", "+012024-01-02T00:00:00Z"],
  ["a number", "1704164645"],
  ["a word", "yesterday"],
  ["nothing", ""],
  ["space around it", " 2024-01-02T03:04:05Z "],
  ["something after it", "2024-01-02T03:04:05Zjunk"],
  ["a line break after it", "2024-01-02T03:04:05Z\n"],
  ["digits of another script", "２０２４-01-02"],
  // What is accepted has to be sent again later, and the wire has four digits for a year.
  ["an instant after year 9999", "9999-12-31T23:59:59-01:00"],
  ["an instant before year 0", "0000-01-01T00:00:00+01:00"]
]

describe("WireDate", () => {
  const zone = process.env["TZ"]
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
  })

  it.each(read)("reads %s", (_, text, iso) => assert.strictEqual(instant(text), iso))

  it.each(refused)("refuses %s", (_, text) => {
    assert.isUndefined(instant(text))
    assert.isTrue(Result.isFailure(Schema.decodeResult(WireDate)(text)))
  })

  it.each(["America/New_York", "Asia/Tokyo", "Pacific/Apia", "UTC"])("means UTC without a zone, in %s too", (name) => {
    process.env["TZ"] = name
    // The setting took hold, or the rest of this test would say nothing.
    assert.strictEqual(Intl.DateTimeFormat().resolvedOptions().timeZone, name)
    for (const [, text, iso] of read) assert.strictEqual(instant(text), iso)
    // An hour that New York and Apia have skipped in their clocks.
    assert.strictEqual(instant("2024-03-10T02:30:00"), "2024-03-10T02:30:00.000Z")
    assert.strictEqual(instant("2011-12-30T12:00:00"), "2011-12-30T12:00:00.000Z")
  })

  it("writes to the second, with Z", () => {
    const encode = Schema.encodeSync(WireDate)
    assert.strictEqual(encode(DateTime.makeUnsafe("2024-01-02T03:04:05.678Z")), "2024-01-02T03:04:05Z")
    assert.strictEqual(encode(DateTime.makeUnsafe("2024-01-02T05:04:05+02:00")), "2024-01-02T03:04:05Z")
    assert.strictEqual(formatWireDate(DateTime.makeUnsafe("0001-01-01T00:00:00Z")), "0001-01-01T00:00:00Z")
  })

  it.each([Date.UTC(10_000), 8.64e15, -62_167_219_200_001, Number.POSITIVE_INFINITY])(
    "has no text for an instant beyond its calendar: %d",
    (at) => {
      const date = DateTime.addDuration(DateTime.makeUnsafe(0), at)
      assert.isTrue(Result.isFailure(Schema.encodeResult(GivenDate)(date)))
    }
  )

  const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  const Instant = between(Date.parse("0001-01-02T00:00:00Z"), Date.parse("9999-12-30T00:00:00Z"))

  it.prop("reads what Date writes", [Instant], ([at]) => {
    const iso = new Date(at).toISOString()
    assert.strictEqual(instant(iso), iso)
  })

  it.prop(
    "reads every offset as Date does",
    [Instant, between(0, 23), between(0, 59), Schema.Literals(["+", "-"])],
    ([at, hours, minutes, sign]) => {
      const two = (value: number) => String(value).padStart(2, "0")
      const text = `${new Date(at).toISOString().slice(0, -1)}${sign}${two(hours)}:${two(minutes)}`
      assert.strictEqual(instant(text), new Date(text).toISOString())
    }
  )

  it.prop(
    "knows every day of the calendar and no other",
    [between(1, 9999), between(1, 12), between(1, 31)],
    ([year, month, day]) => {
      const date = new Date(0)
      date.setUTCFullYear(year, month - 1, day)
      const text = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
      assert.strictEqual(instant(text) !== undefined, date.toISOString().startsWith(text))
    }
  )

  it.prop("reads what it writes", [Instant], ([at]) => {
    const text = formatWireDate(DateTime.makeUnsafe(at))
    assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.strictEqual(instant(text), new Date(Math.floor(at / 1000) * 1000).toISOString())
  })
  it.prop(
    "reads the form that is sent as it reads any other, whether there is such a moment or not",
    [between(0, 9999), between(0, 13), between(0, 32), between(0, 24), between(0, 60), between(0, 60)],
    ([year, month, day, hour, minute, second]) => {
      const two = (value: number) => String(value).padStart(2, "0")
      const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`
      const text = `${date}T${two(hour)}:${two(minute)}:${two(second)}`
      assert.strictEqual(instant(`${text}Z`), instant(`${text}+00:00`))
      assert.strictEqual(instant(text), instant(`${text}.0`))
    }
  )

  it.prop(
    "writes what Date writes, to the second",
    [between(Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z"))],
    ([at]) => {
      const date = DateTime.makeUnsafe(at)
      assert.strictEqual(formatWireDate(date), `${new Date(at).toISOString().slice(0, 19)}Z`)
    }
  )
})
