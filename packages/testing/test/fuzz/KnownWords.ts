import { emailsOf, keyNamesOf, listNamesOf, smtpNamesOf } from "./Askers.ts"
import type { Words } from "./GeneratedRequests.ts"
import type { Account } from "./Model.ts"

/** The known values of an account by the name of their field or parameter, in any letter case. */
export const wordsOf = (accounts: ReadonlyArray<Account>, account: Account): Words => {
  const emails = emailsOf(account).slice(0, 20)
  const lists = [...listNamesOf(account), `further of ${account.mark}`, `more of ${account.mark}`]
  // The main account would make credentials in others by names that are marked as its own.
  const others = account.subaccount === "" ? [] : accounts.slice(1).map(({ subaccount }) => subaccount)
  const subaccounts = [...others, "nobody", null]
  const byName: Readonly<Record<string, () => ReadonlyArray<unknown>>> = {
    email: () => emails,
    emails: () => emails,
    name: () => [...keyNamesOf(account), ...smtpNamesOf(account)],
    subaccount: () => subaccounts,
    listname: () => lists,
    listnames: () => lists,
    newlistname: () => lists,
    state: () => ["{}", "row 7"],
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
  const { emails: messages, jobs, runs } = account.ids
  const open = () => account.runs.filter(({ isEnded }) => !isEnded).map(({ id }) => id)
  const inPath: ReadonlyArray<readonly [operations: RegExp, words: () => ReadonlyArray<unknown>]> = [
    [/^lists/, () => lists],
    [/^accountRules/, () => ["vip", `vip.${account.mark}`]],
    [/^runs/, () => [...open().slice(-3), ...runs.slice(-3)]],
    [/^(?:accountJobs|contactsExport)/, () => [...account.exports.slice(-5), ...jobs.slice(-5)]],
    [/^accountEmails/, () => messages.slice(-5)]
  ]
  return (name, operation = "") =>
    (/^(?:name|id)$/.test(name) ? inPath.find(([of]) => of.test(operation))?.[1]() : undefined) ??
    byName[name.toLowerCase()]?.() ??
    []
}
