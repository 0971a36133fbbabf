import { emailsOf, keyNamesOf, listNamesOf, smtpNamesOf } from "./Askers.ts"
import type { Words } from "./GeneratedRequests.ts"
import type { Account } from "./Model.ts"

/** The known values of an account by the name of their field or parameter, in any letter case. */
export const wordsOf = (accounts: ReadonlyArray<Account>, account: Account): Words => {
  const emails = emailsOf(account).slice(0, 20)
  // The main account would make credentials in others by names that are marked as its own.
  const others = account.subaccount === "" ? [] : accounts.slice(1).map(({ subaccount }) => subaccount)
  const subaccounts = [...others, "nobody", null]
  const byName: Readonly<Record<string, () => ReadonlyArray<unknown>>> = {
    email: () => emails,
    emails: () => emails,
    name: () => [...keyNamesOf(account), ...smtpNamesOf(account), ...listNamesOf(account)],
    id: () => [...account.exports.slice(-5), ...account.ids.slice(-10)],
    subaccount: () => subaccounts,
    listname: () => listNamesOf(account),
    listnames: () => listNamesOf(account),
    newlistname: () => listNamesOf(account),
    encodingname: () => ["utf-8", "utf-16le", "windows-1252", "klingon"],
    // Nothing that the service would fetch.
    fileurl: () => ["http://127.0.0.1:1/a.csv", "ftp://example.com/a.csv", "nonsense"],
    rule: () => [
      "status = Active",
      "email ends-with 'example.com'",
      "city = 'x' AND",
      "((((",
      "Zone = 'north'",
      "email = ''"
    ],
    from: () => ["ann@example.com", "Ann <ann@elsewhere.test>"],
    envelopefrom: () => ["ann@example.com", "", null],
    expires: () => ["2098-01-02T03:04:05Z", "2099-02-30T00:00:00Z", null],
    restrictaccesstoiprange: () => ["10.0.0.0/8", "192.0.2.0/24", "10.0.0.0/33"],
    status: () => ["Active", "Nonsense"],
    consentdate: () => ["2024-01-02T03:04:05Z", "2024-13-02T03:04:05Z"],
    filename: () => ["a.csv", "a/b", "a.zip"]
  }
  return (name: string) => byName[name.toLowerCase()]?.() ?? []
}
