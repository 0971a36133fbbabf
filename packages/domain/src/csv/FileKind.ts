/** What a file is that is no CSV, by its first bytes, in a sentence that says how to make a CSV of it. (docs/decisions/csv.md) */

const save = "save the sheet as CSV UTF-8 and import that"
const unpack = "unpack it and import what it holds"

/** Said of the workbook of a current Excel, which is a zip archive as its texts and presentations are. */
export const excelWorkbook = `it is an Excel workbook (.xlsx) or another Office file; ${save}`

/** Said of the documents of an office program of Apple, which are zip archives too. */
export const appleDocument = `it is a document of Numbers, Pages or Keynote; ${save}`

/** Said of the document of a free office program, which is a zip archive too. */
export const openDocument = `it is an OpenDocument file such as a workbook (.ods); ${save}`

const saveText = "save its table as CSV and import that"

const exportThere = (what: string): string => `it is ${what}; export it as CSV there`

const picture = "it is a picture; export the contacts as CSV where it was made"

/** Files by their first bytes, in Latin-1, and the place of these bytes. */
const signatures: ReadonlyArray<readonly [bytes: string, sentence: string, at?: number]> = [
  [
    "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    `it is a workbook of Excel 97 to 2003 (.xls), another old Office file (.doc), a mail of Outlook or a file with a password; ${save}`
  ],
  ["\x09\x08\x10\0", `it is a workbook of an old Excel (.xls); ${save}`],
  ["\x09\x08\x08\0", `it is a workbook of an old Excel (.xls); ${save}`],
  ["\x09\x04\x06\0", `it is a workbook of an old Excel (.xls); ${save}`],
  ["\0\0\x1a\0", `it is a workbook of Lotus 1-2-3; ${save}`],
  ["\xffWPC", `it is a document of WordPerfect; ${saveText}`],
  ["\0\x01\0\0Standard ", "it is a database of Access; export a table as CSV"],
  ["!BDN", "it is a file of Outlook (.pst); export the contacts as CSV there"],
  ["PGDMP", "it is a dump of PostgreSQL; restore it and export a table as CSV"],
  ["bplist00", exportThere("a property list of Apple")],
  ["$FL2", exportThere("a file of SPSS (.sav)")],
  ["$FL3", exportThere("a file of SPSS (.sav)")],
  ["<stata_dta>", exportThere("a file of Stata (.dta)")],
  ["ARROW1", exportThere("a file of Arrow or Feather")],
  ["Obj\x01", exportThere("an Avro file")],
  ["ORC\x0a", exportThere("an ORC file")],
  ["\x89HDF", exportThere("an HDF5 file")],
  ["%PDF-", "it is a PDF; export the contacts as CSV where it was made"],
  ["\x1f\x8b", `it is compressed with gzip; ${unpack}`],
  ["PK\x03\x04", `it is a zip archive or a workbook; ${unpack}, or save the sheet as CSV`],
  ["PK\x05\x06", "it is a zip archive without a file"],
  ["ustar", `it is a tar archive; ${unpack}`, 257],
  ["BZh", `it is compressed with bzip2; ${unpack}`],
  ["\xfd7zXZ\0", `it is compressed with xz; ${unpack}`],
  ["\x28\xb5\x2f\xfd", `it is compressed with Zstandard; ${unpack}`],
  ["7z\xbc\xaf\x27\x1c", `it is a 7z archive; ${unpack}`],
  ["Rar!\x1a\x07", `it is a RAR archive; ${unpack}`],
  ["SQLite format 3\0", "it is an SQLite database; export a table as CSV"],
  ["PAR1", "it is a Parquet file; export it as CSV"],
  ["\x89PNG", picture],
  ["\xff\xd8\xff", picture],
  ["GIF8", picture],
  ["II*\0", picture],
  ["MM\0*", picture],
  ["ftyp", "it is a picture or a film; export the contacts as CSV where it was made", 4],
  ["RIFF", "it is a picture, a film or a sound; export the contacts as CSV where it was made"],
  ["\xff\xfe\0\0", "it is UTF-32; save it as UTF-8"],
  ["\0\0\xfe\xff", "it is UTF-32; save it as UTF-8"]
]

/** How many bytes of a file show which of these it is. */
export const kindBytes = 512

/** What a file of bytes is, or `undefined` for one that may be text. */
export const binaryKind = (bytes: Uint8Array): string | undefined =>
  signatures.find(([signature, , at = 0]) =>
    Array.from(signature).every((character, index) => bytes[at + index] === character.charCodeAt(0))
  )?.[1]

/** Said of what is no text and of no known kind. */
export const noText = "it is no text; export the contacts as CSV, or say which encoding it has"

/** Control characters that stand in no text: all but tab, the ends of lines and pages, the end of a file, and escape. */
const isControl = (byte: number): boolean =>
  byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1a && byte !== 0x1b

/** Maximum number of control characters in the first bytes of a text: a short one may have some by mistake. */
const maximumControls = 25

/** Whether bytes are no text in an encoding of one byte for an ASCII character. */
export const isNoText = (bytes: Uint8Array): boolean =>
  bytes.subarray(0, kindBytes).filter(isControl).length > maximumControls

/** Texts by how they begin. A heading may begin with any of these characters, so a word follows. */
const beginnings: ReadonlyArray<readonly [beginning: RegExp, sentence: string]> = [
  [
    /^BEGIN:VCARD\b/i,
    "it is a file of vCards; open it in an address book, such as that of a mail program, and export that as CSV"
  ],
  [/^BEGIN:VCALENDAR\b/i, "it is a calendar; it has no contacts to import"],
  [
    /^<(?:!doctype html|html|head|body|table|script|meta|title|div)\b/i,
    "it is a web page (HTML), perhaps one to sign in; download the CSV itself"
  ],
  [
    /^<(?:\?xml|!--|Contacts\b|office:|plist\b)/i,
    "it is XML, as some workbooks are; export the contacts as CSV or JSON"
  ],
  [/^ID[;\s]P(?:WXL|CALC|SCALC|MP\b)/, `it is a symbolic link file (SYLK) of a spreadsheet; ${save}`],
  [
    /^(?:-- (?:MySQL|MariaDB|phpMyAdmin|PostgreSQL|Dump|Adminer)\b|\/\*!\d{5}|INSERT INTO\s|CREATE TABLE\s|DROP TABLE\s|PRAGMA \w+=)/i,
    "it is a dump of a database in SQL; restore it and export a table as CSV"
  ],
  [
    /^(?:(?:Received|Return-Path|Delivered-To|MIME-Version|Message-ID|X-Mozilla-Status|DKIM-Signature): |From [^\s@]+@[^\s@]+ \w{3} \w{3}\b)/i,
    "it is a mail or a mailbox; export the contacts of the mail program as CSV"
  ],
  [/^(?:version: 1 )?dn:{1,2} \S+=/i, "it is a file of a directory (LDIF); export the contacts as CSV"],
  [/^\[InternetShortcut\]/i, "it is a link to a page; download the file that the page shows"],
  [/^\{\\rtf/, `it is a text document (RTF); export the contacts as CSV`]
]

/** What a text is, or `undefined` for one that may be CSV. */
export const textKind = (text: string): string | undefined =>
  beginnings.find(([beginning]) => beginning.test(text.trimStart()))?.[1]

/** Whether a text is an array of JSON or begins with an object. A heading in brackets has a letter in them. */
export const isJson = (text: string): boolean => /^\s*(?:\[\s*(?:[{\]"]|\[\s*"|$)|\{\s*["}])/.test(text)
