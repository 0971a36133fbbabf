/** The texts of the keys: what a level includes, what is done with them, and what becomes of their secrets. */
import type { ReactNode } from "preact/compat"
import { counted, type Forms, type Marked, sentence } from "./Language.ts"

const levels: Forms = { one: "other level", other: "other levels" }

export const keyTexts = {
  /** What a key with a level may do. */
  levels: {
    ViewContacts: "Read all contacts",
    ModifyContacts: "Add, import, change and delete contacts: it can overwrite or delete every one",
    Export: "Export all contacts into files",
    ViewReports: "See what became of the e-mails that were sent",
    SendHttp: "Send e-mail",
    Security: "See which keys and SMTP credentials there are, without their secrets",
    ModifyAccessTokens: "Make, change and delete keys and SMTP credentials, but none that may more than itself"
  },
  otherLevels: (count: number): string => counted(count, levels),

  // The lists

  lists: { apikeys: "API keys", smtp: "SMTP credentials" },
  make: { apikeys: "New key…", smtp: "New SMTP credentials…" },
  reading: "Reading them…",
  noneOfStore: "There are none. Programs need one to reach this store over the network.",
  headings: {
    may: "May",
    from: "From",
    lastUse: "Last use",
    audit: "Audit",
    actions: "Actions"
  },
  everywhere: "everywhere",
  nothingFound: "nothing found",
  change: (name: string, unseen: Marked): ReactNode => sentence`Change${unseen(` ${name}`)}…`,
  rotate: (name: string, unseen: Marked): ReactNode => sentence`Rotate${unseen(` ${name}`)}`,
  leaked: (name: string, unseen: Marked): ReactNode => sentence`It leaked${unseen(`: ${name}`)}…`,

  more: "Subaccounts and rotations",
  subaccount: "Subaccount, by its e-mail address (empty: the account of this key)",
  show: "Show",

  // Making and changing one

  titleOfNew: { apikeys: "New API key", smtp: "New SMTP credentials" },
  titleOfChange: (name: string): string => `Change ${name}`,
  name: { apikeys: "Name, such as the program that uses it", smtp: "Name, an e-mail address that is the login" },
  mayDo: "What it may do",
  level: (level: string, purposes: string): string => (purposes === "" ? level : `${level}, for ${purposes}`),
  itEnds: "It ends",
  ends: { keep: "as it is", "30": "in 30 days", "90": "in 90 days", "365": "in a year", never: "never" },
  addresses: "Addresses and ranges from which it may be used, one a line (empty: from everywhere)",
  othersHave: "Other keys have",
  makeIt: "Make it, and show its secret",
  changeIt: "Change it",

  // Deleting and revoking one

  hasLeaked: (name: string): string => `${name} has leaked`,
  deleteNamed: (name: string): string => `Delete ${name}`,
  neverUsed: "It was never used.",
  lastUsed: (at: ReactNode): ReactNode => sentence`It was used last at ${at}.`,
  isRevoked: (name: ReactNode): ReactNode => sentence`${name} is revoked: nobody gets in with it any more.`,
  couldDo: (levels: string): string => `It could do: ${levels}.`,
  inTrail: "What it did is in the audit trail, for a key with the level Security:",
  isDeleted: (name: ReactNode): ReactNode => sentence`${name} is deleted.`,
  lastManaging:
    "This is the last key that can manage keys, so it stays: without it nobody could make another one over the network. " +
    "Make another key that can manage keys first, sign in with that one, and then delete this one.",
  wouldStop: {
    apikeys: (name: ReactNode): ReactNode =>
      sentence`The API key ${name} would stop working at once, for every program that uses it.`,
    smtp: (name: ReactNode): ReactNode =>
      sentence`The SMTP credentials ${name} would stop working at once, for every program that uses it.`
  },
  noUndo: "This cannot be undone.",
  makeManaging: "Make another managing key…",
  revokeIt: "Revoke it now",
  deleteIt: "Delete it",
  keepIt: "Keep it",

  // Secrets

  secretOf: (name: string): string => `The secret of ${name}`,
  shownOnce: {
    apikeys: (name: ReactNode): ReactNode =>
      sentence`This is the secret of the API key ${name}. It is shown now and never again. Keep it where secrets are kept, such as a password manager.`,
    smtp: (name: ReactNode): ReactNode =>
      sentence`This is the password of the SMTP credentials ${name}. It is shown now and never again. Keep it where secrets are kept, such as a password manager.`
  },
  secret: "Secret",
  haveKept: "I have kept the secret",
  done: "Done",
  throwAway: "Throw it away, and keep the old one",
  notKept: (name: string): string => `The new secret of "${name}" was thrown away, and the old one stays as it is.`,

  // Rotations

  oldSecret: "After a rotation the old secret",
  graces: {
    "0 seconds": "ends at once",
    "1 day": "works for a day",
    "7 days": "works for a week",
    "30 days": "works for 30 days"
  },
  newSecretOf: (name: ReactNode): ReactNode => sentence`New secret of ${name}`,
  belongsTo: (name: ReactNode): ReactNode =>
    sentence`Done: the new secret belongs to ${name}. Give it to the programs that use the old one.`,
  oldWorks: (name: ReactNode): ReactNode =>
    sentence`The old secret works as ${name}. Change that one to give it another end.`,
  oldWorksUntil: (name: ReactNode, until: ReactNode): ReactNode =>
    sentence`The old secret works as ${name} until ${until}. Change that one to give it another end.`
}
