/**
 * What is sent as a rule, or in one, by somebody who wants more than that.
 */

/** Texts that would be something else to SQL, to a shell or to a template. */
export const injections = [
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE contacts; --",
  "'); DELETE FROM contacts; --",
  "' UNION SELECT secret_digest FROM credentials --",
  "x' AND (SELECT count(*) FROM credentials) > 0 AND 'a'='a",
  "' || (SELECT email FROM contacts LIMIT 1) || '",
  "'/**/OR/**/1=1",
  "%' OR email LIKE '%",
  "\\' OR 1=1 #",
  '" OR ""="',
  "`email` = `email`",
  "[email] = [email]",
  "1; ATTACH DATABASE '/tmp/x' AS x",
  "PRAGMA writable_schema = ON",
  "load_extension('x')",
  "$1 ?1 :a @b {{7*7}} ${7*7} $(id)",
  "\u02bc OR 1=1 \uff07 OR \u2018 OR \u2019 OR \u201c",
  "\uff07; DROP TABLE contacts; --",
  "0x27 OR char(39)",
  "x\r\n; DELETE FROM contacts",
  "\u202e' RO",
  "email = email",
  "1 = 1"
]

/** The same behind the beginning of a rule. */
export const continued = [
  "email = 'a'; DELETE FROM contacts",
  "email = 'a' -- AND status = Active",
  "email = 'a' /* x */",
  "email = 'a' UNION SELECT 1",
  "email = 'a' OR 1 = 1",
  "email = 'a' OR ''=''",
  "email = (SELECT email FROM contacts)",
  "email IN (SELECT email FROM contacts)",
  "email = NULL OR NOT email = 'a'",
  "lower(email) = 'a'",
  "rowid = 1; x = 2",
  "contacts.email' = 'a'",
  "email = \u2018a\u2019",
  "email = \uff07a\uff07",
  "email \uff1d 'a'",
  "email = 'a'\u037e DELETE FROM contacts"
]

/** Rules that leave nobody of any store out, in many spellings. */
export const tautologies = [
  "email != ''",
  'EMAIL   !=\t""',
  "((email != ''))",
  "email contains '@'",
  "email starts-with ''",
  "firstname ends-with ''",
  "nobody-has-this contains ''",
  "status = Active OR status != 'active'",
  "firstname = 'Other' OR firstname != 'OTHER'",
  "x = 1 OR y = 2 OR X != 1",
  "x != 1 OR x != 2",
  "firstname contains 'a' OR (firstname not-contains 'A' OR y = 1)",
  "email != '' AND (x = 1 OR x != 1)",
  "totalsent >= 0",
  "totalsent > -1 AND totalopened != -5",
  "totalsent < 3 OR totalsent >= 3",
  "status != ''",
  "dateadded < '2024-01-01' OR dateadded >= '2024-01-01'"
]
