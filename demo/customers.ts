/**
 * The demo's input: a realistic export of a shop. It has a byte order mark, headers in mixed case, custom columns,
 * names from many languages, commas and line breaks inside quotes, duplicate addresses and invalid rows. It is the same
 * file every time.
 */

const firstNames = [
  "Ada",
  "Zoë",
  "José",
  "Søren",
  "Łukasz",
  "Мария",
  "明",
  "Anaïs",
  "Björk",
  "O'Neil",
  "Nguyễn",
  "Çağla"
]
const lastNames = [
  "Lovelace",
  "Müller",
  "García",
  "Kierkegaard",
  "Wiśniewski",
  "Иванова",
  "王",
  "D’Arcy",
  "Guðmundsdóttir"
]
const cities = ["Köln", "Santiago, Chile", "São Paulo", "Reykjavík", "København", "東京", 'Halle "Saale"']

/** The number of people in the file, and how many of them are duplicated. */
const people = 2600
const twice = 75

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

const pick = (values: ReadonlyArray<string>, index: number): string => values[index % values.length] ?? ""

const person = (index: number, note: string): string =>
  [
    `${pick(["ada", "zoe", "jose", "soren", "li", "maria"], index)}.${index}@shop.example`,
    pick(firstNames, index),
    pick(lastNames, index * 7),
    pick(cities, index * 3),
    index % 11 === 0 ? "Unsubscribed" : index % 4 === 0 ? "Engaged" : "",
    note,
    index % 5 === 0 ? `+49 151 ${1000000 + index}` : ""
  ]
    .map(quote)
    .join(",")

const broken = [
  "no-address-here,Nobody,,,,,",
  "two@@signs.example,Double,At,,,,",
  "too few cells@shop.example,Short",
  '"never.closed@shop.example,Open,Quote,Köln,,,',
  "status@shop.example,Odd,Status,Köln,Best Customer,,",
  ",Empty,Address,Köln,,,"
]

/** The text of the file, with the byte order mark that spreadsheets add. */
export const customersCsv = (): string => {
  const rows: Array<string> = []
  for (let index = 0; index < people; index++) {
    const note = index % 40 === 0 ? 'Asked for a call,\r\n"in the afternoon"' : ""
    rows.push(person(index, note))
    if (index % Math.floor(people / twice) === 5)
      rows.push(person(index, "entered twice").replace(/^./, (letter) => letter.toUpperCase()))
    if (index % 450 === 449) rows.push(broken[Math.floor(index / 450)] ?? "")
  }
  rows.push(broken.at(-1) ?? "")
  return `\u{FEFF}EMAIL,firstName,LastName,City,Status,Shop Note,Phone\r\n${rows.join("\r\n")}\r\n`
}
