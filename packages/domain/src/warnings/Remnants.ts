/**
 * What programs leave in the texts of a file: their signs for nothing, and characters that are still escaped. An import takes
 * them as they are, and warns. (docs/decisions/csv.md)
 */

/** The longest text that stands for nothing. */
const longestSign = 30

/**
 * Errors of spreadsheets in any of their languages (`#N/A`, `#REF!`, `#BEZUG!`, `Err:508`), and a column that was too narrow for
 * its number when it was printed.
 */
const sheetError =
  /^#(?:[¡¿]?\p{Lu}[\p{Lu}\d/_]*[!?]|N\/A|N\/D!?|N\/B|NV|Н\/Д|N\/A N\/A|GETTING_DATA|#{2,})$|^Err:\d{3}$|^#ERR\w*!?$/u

/** As programs write them. `Null`, `Nan` and `Na` are names of people, and `none` is an answer. */
const signs = new Set(
  (
    "NULL null NaN nan NAN NA N/A n/a N.A. n.a. None nil NIL undefined Undefined UNDEFINED NaT Inf inf -inf Infinity -Infinity \\N " +
    "<NA> <null> <NULL> <nil> <None> <none> (null) (NULL) (nil) (none) (None) (blank) (empty) (undefined) (not_set) [null] [NULL] {null} " +
    "{} [] [object_Object] Invalid_Date Invalid_date #NULL #null %!s(<nil>) System.DBNull DBNull"
  )
    .split(" ")
    .map((sign) => sign.replaceAll("_", " "))
)

/** Days that no calendar has, as databases and spreadsheets write none: `0000-00-00`, `00.00.0000`, `1900-01-00`. */
const noDay =
  /^(?:0{4}([-./])0{2}\1(?:0{2})(?:[ T]0{2}:0{2}(?::0{2}(?:\.0+)?)?Z?)?|0{2}([-./])0{2}\2(?:0{4}|0{2})|1900-01-00)$/

/** Whether a text is what a program writes for nothing, such as `#N/A`, `NULL`, `NaN`, `\N` or `0000-00-00`. */
export const standsForNothing = (text: string): boolean => {
  if (text.length > longestSign) return false
  const sign = text.trim()
  return signs.has(sign) || sheetError.test(sign) || noDay.test(sign)
}

/** A text without one of these characters has nothing escaped in it. */
const escapeSign = /[&=%\\_]/

/** Entities of HTML: `&amp;`, `&uuml;`, `&#252;`. */
const entity =
  /&(?:amp|lt|gt|quot|apos|nbsp|shy|szlig|eth|thorn|euro|pound|yen|cent|copy|reg|trade|deg|middot|bull|hellip|[mn]dash|[lrsb]d?quo|[lr]s?aquo|iexcl|iquest|ord[fm]|para|sect|[a-z]{1,2}(?:uml|acute|grave|circ|tilde|cedil|ring|slash|caron|lig|stroke|ogon)|#\d{2,7}|#x[\da-f]{2,6});/i

/** Quoted-printable, and words of headers of mails: `M=C3=BCller`, `M=FCller`, `=?utf-8?Q?M=C3=BCller?=`. */
const quotedPrintable =
  /=\?[\w-]+\?[qb]\?[^?]*\?=|=(?:C[2-9A-F]|D[\dA-F]|E[\dA-F]|F[0-4])=[89AB][\dA-F]|\p{L}=[C-F][\dA-F](?=\p{Ll})|=3D/iu

/** Escapes of programs and databases: `\u00fc`, `\xfc`, `O\'Neil`, `a\nb`, and `_x000D_` of workbooks. */
const backslashed = /\\(?:u[\da-f]{4}|u\{[\da-f]{1,6}\}|U[\da-f]{8}|x[\da-f]{2}|["'])|_x[\da-f]{4}_/i
const lineEscape = /\\(?:r\\n|[nrt])/

/** A path of Windows, in which `\n` is the beginning of a name. */
const windowsPath = /^\\\\|[a-z]:\\/i

/** What stands in the address of a page: `M%C3%BCller`, `Ann%20Lee`, `ann%40example.com`. */
const percented =
  /%(?:C[2-9A-F]|D[\dA-F]|E[\dA-F]|F[0-4])%[89AB][\dA-F]|[\p{L}\d]%(?:2[0-9A-F]|3[A-F]|40)(?=[\p{L}\d])/iu

/** The address of a page, where this is right. */
const pageAddress = /^(?:[a-z][a-z\d+.-]*:|www\.|\/)/i

/** Whether characters of a text are still escaped as HTML, mails, programs or addresses of pages escape them. */
export const looksEscaped = (text: string): boolean =>
  escapeSign.test(text) &&
  (entity.test(text) ||
    quotedPrintable.test(text) ||
    backslashed.test(text) ||
    (lineEscape.test(text) && !windowsPath.test(text)) ||
    (percented.test(text) && !pageAddress.test(text.trimStart())))
