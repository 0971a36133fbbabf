/**
 * Every command with the exit codes that it can end with. Words in braces are what a test puts there: `{db}` is a copy of a
 * store that has a contact, two keys, SMTP credentials of two names and an export that is ready.
 */

export interface Golden {
  /** Its arguments where it ends with 0. */
  readonly good: string
  /** Whether it asks a service, so that it can be refused (4, 7) and find nobody (8). */
  readonly asks?: true
  /** Whether it adds what a store begins with, and so makes one that does not exist. */
  readonly makesStore?: true
  /** Its arguments where it ends otherwise, by the exit code. */
  readonly ends?: Readonly<Record<number, string>>
}

const nobody = "nobody@example.com"
const unknown = "00000000-0000-4000-8000-000000000000"

export const golden: Readonly<Record<string, Golden>> = {
  "contacts list": { good: "", asks: true, ends: { 2: "--limit 0", 5: "--on None" } },
  "contacts count": { good: "", asks: true, ends: { 2: "--rule status=" } },
  "contacts fields": {
    good: "",
    asks: true,
    ends: { 2: "--rule status=", 3: "--convert city=boolean" }
  },
  "contacts get": { good: "ann@example.com", asks: true, ends: { 2: "ann", 5: nobody } },
  "contacts history": {
    good: "ann@example.com --limit 5",
    asks: true,
    ends: { 2: "ann@example.com --all --limit 5", 5: nobody }
  },
  "contacts add": {
    good: "bob@example.com",
    asks: true,
    makesStore: true,
    ends: { 2: "bob@example.com --field Email=x" }
  },
  "contacts update": { good: "ann@example.com --first-name Ann", asks: true, ends: { 5: `${nobody} --first-name N` } },
  "contacts delete": {
    good: "ann@example.com --yes",
    asks: true,
    ends: { 2: "--rule status=", 3: "ann@example.com", 5: `${nobody} --yes` }
  },
  "contacts import": { good: "{csv}", asks: true, makesStore: true, ends: { 2: "{folder}/absent.csv", 9: "{badCsv}" } },
  "contacts apply": { good: "{plan}", asks: true, ends: { 2: "{folder}/absent.json" } },
  "contacts runs": { good: "" },
  "contacts undo": { good: "last --yes", asks: true, ends: { 5: "none" } },
  "contacts export": { good: "", asks: true, ends: { 2: "--out {folder}" } },
  "lists list": { good: "" },
  "lists add": {
    good: "News ann@example.com",
    asks: true,
    ends: { 2: "Other ann@example.com", 3: "News --rule All", 5: `News ${nobody}` }
  },
  "lists remove": {
    good: "News ann@example.com",
    asks: true,
    ends: { 2: "News ann", 3: "News --rule All", 5: `News ${nobody}` }
  },
  "lists create": { good: "Empty", asks: true, makesStore: true, ends: { 3: "Nwes", 6: "News" } },
  "lists rename": { good: "News Others", asks: true, ends: { 5: "none Others" } },
  "lists delete": { good: "News --yes", asks: true, ends: { 3: "News", 5: "none --yes" } },
  "jobs list": { good: "", ends: { 2: "--limit 0" } },
  "jobs get": { good: "{job}", ends: { 5: unknown } },
  "jobs cancel": { good: "{job} --yes", ends: { 3: "{job}", 5: `${unknown} --yes`, 6: "{cancelled} --yes" } },
  "apikeys list": { good: "", asks: true },
  "apikeys get": { good: "ci", asks: true, ends: { 5: "none" } },
  "apikeys create": {
    good: "new --access Export",
    asks: true,
    makesStore: true,
    ends: { 2: "new --access Export --expires 2001-01-01", 6: "ci --access Export" }
  },
  "apikeys update": {
    good: "ci --no-expiry",
    asks: true,
    ends: { 2: "ci", 5: "none --no-expiry", 6: "ci --rename other" }
  },
  "apikeys rotate": {
    good: "ci --grace 7d",
    asks: true,
    ends: { 2: "ci --grace soon", 5: "none --out {new}" }
  },
  "apikeys audit": { good: "", asks: true, ends: { 2: "--unused-for soon", 9: "--fail-on-findings --unused-for 1ms" } },
  "apikeys delete": { good: "ci --yes", asks: true, ends: { 3: "ci", 5: "none --yes" } },
  "smtp list": { good: "", asks: true },
  "smtp get": { good: "shop@example.com", asks: true, ends: { 2: "shop", 5: nobody } },
  "smtp create": { good: "new@example.com", asks: true, makesStore: true, ends: { 2: "new", 6: "shop@example.com" } },
  "smtp update": {
    good: "shop@example.com --no-expiry",
    asks: true,
    ends: { 5: `${nobody} --no-expiry`, 6: "shop@example.com --rename other@example.com" }
  },
  "smtp rotate": { good: "shop@example.com --grace 0", asks: true, ends: { 5: `${nobody} --out {new}` } },
  "smtp delete": { good: "shop@example.com --yes", asks: true, ends: { 3: "shop@example.com", 5: `${nobody} --yes` } },
  "audit list": { good: "", ends: { 2: "--limit 0" } },
  "emails send": {
    good: "--from a@example.com --to b@example.com --text x",
    asks: true,
    makesStore: true,
    ends: { 2: "--from a@example.com --to b@example.com" }
  },
  "emails list": { good: "", ends: { 2: "--limit 0" } },
  "emails get": { good: "{email}", ends: { 5: unknown } },
  "rules save": { good: "vip status=Active", makesStore: true, ends: { 2: "vip status=" } },
  "rules list": { good: "" },
  "rules remove": { good: "vip", ends: { 2: "-vip", 5: "none" } },
  studio: { good: "--no-open", ends: { 2: "--port 65536", 8: "--no-open --port {taken}" } },
  serve: { good: "", ends: { 2: "--port 65536", 8: "--port {taken}" } },
  backup: { good: "{new}", ends: { 2: "{folder}" } },
  restore: { good: "{backup} --yes", makesStore: true, ends: { 2: "{csv} --yes", 3: "{backup}" } },
  "auth login": { good: "--base-url https://example.com/v4 --no-check", ends: { 2: "--base-url none" } },
  "auth logout": { good: "" },
  "profile list": { good: "" },
  "profile use": { good: "one", ends: { 2: "a/b" } },
  "profile remove": { good: "one", ends: { 2: "a/b" } },
  status: { good: "", asks: true },
  upgrade: { good: "", ends: { 2: "--no-copy --database-url postgres://roster@db.example.com/roster" } },
  doctor: { good: "" },
  completions: { good: "bash", ends: { 2: "tcsh" } },
  commands: { good: "" }
}
