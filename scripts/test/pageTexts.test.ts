/** The rule of the linter that finds texts of the page outside of their room. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { isWords } from "../pageTexts.ts"

/** The texts of several words in code, each as often as it stands there. */
const textsOf = (node: unknown): ReadonlyArray<string> => {
  if (typeof node !== "object" || node === null) return []
  const within = Object.values(node).flatMap(textsOf)
  if (!("type" in node)) return within
  if (node.type === "Literal" && "value" in node) return [String(node.value)].filter(isWords)
  if (node.type !== "TemplateLiteral" || !("quasis" in node)) return within
  const text = JSON.stringify(node.quasis, ["value", "cooked"])
  return [...(isWords(text) ? [text] : []), ...within]
}

/** Code of a page. The lines that end with `text` have a text that belongs elsewhere; no other line has one. */
const page = `
import { Table } from "../kit/Table.tsx"
const advice = "Choose the file again." // text
const title = (count) => \`Delete \${count} contacts\` // text
const doing = "Counting…" // text
const state = "Waiting"
const titles = {
  file: "File", // text
  plan: "ThePlan",
  step: { title: isOpen ? "Open" : undefined, state: "Waiting" } // text
}
const rule = \`status = '\${state}' AND city != 'Bonn'\`
const used = document.querySelectorAll("tbody tr")
const command = { program: "contacts export", values: { out: "contacts.csv" } }
const shown = (1234).toLocaleString() // text
const day = new Intl.DateTimeFormat().format(0) // text
export const View = ({ count, isOpen, name }) => (
  <section className={isOpen ? "wide open" : "wide"} aria-labelledby="title">
    <h1 id="title">
      Contacts // text
    </h1>
    <p>{"Contacts"}</p> // text
    <p>{isOpen ? "open" : null}</p> // text
    <p>{isOpen && \`\${count} rows\`}</p> // text
    <p>{state === "Waiting" ? texts.waiting : texts.ready}</p>
    <p>{name + " is gone"}</p> // text
    <p>{texts.counted(count)}: {count} · “<bdi>{name}</bdi>”</p>
    <Table label="Rows" columns={texts.columns} /> // text
    <Table label={texts.rows} columns={["When", texts.what]} /> // text
    <input placeholder={isOpen ? "Name" : ""} title={texts.title} aria-label={texts.of("Name")} /> // text
    <button type="button" onClick={() => want({ _tag: "Delete", name })}>{texts.delete}</button>
  </section>
)
`

describe("the rule against texts outside of their room", () => {
  it("finds words in elements, in attributes, and where several stand together", () => {
    const folder = mkdtempSync(join(tmpdir(), "roster-texts-"))
    try {
      const lines = page.split("\n")
      writeFileSync(join(folder, "View.tsx"), lines.map((line) => line.replace(/ \/\/ text$/, "")).join("\n"))
      const rules = { "page/texts": "error" }
      const settings = { jsPlugins: [resolve("scripts/pageTexts.ts")], categories: { correctness: "off" }, rules }
      writeFileSync(join(folder, "lint.json"), JSON.stringify(settings))
      const oxlint = resolve("node_modules/oxlint/bin/oxlint")
      const { stdout } = spawnSync(process.execPath, [oxlint, "-c", "lint.json", "-f", "unix", "View.tsx"], {
        cwd: folder,
        encoding: "utf8"
      })
      const found = new Set(Array.from(stdout.matchAll(/View\.tsx:(\d+):/g), ([, line]) => Number(line)))
      // The text of an element begins behind its tag, a line before the words.
      const marked = lines.flatMap((line, at) =>
        line.endsWith(" // text") ? [/^\s*\w+ \/\/ text$/.test(line) ? at : at + 1] : []
      )
      assert.deepStrictEqual(
        [...found].toSorted((one, other) => one - other),
        marked
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("takes the names of the program for none", () => {
    for (const text of ["Waiting", "contacts.csv", "M5 12h14", "30d", "roster.key", "a = 'b c'", "5", ""]) {
      assert.isFalse(isWords(text), text)
    }
    for (const text of [
      "Put it away",
      "line \uFFFC",
      "\uFFFC of them",
      "Zeile für Zeile",
      "Reading…",
      "Gone. Choose it"
    ]) {
      assert.isTrue(isWords(text), text)
    }
  })
})

it("the texts of the page stand once: what several of its rooms say is shared", () => {
  const texts = globSync("packages/studio/src/texts/*.ts").flatMap((file) =>
    textsOf(parseAst(readFileSync(file, "utf8"), { lang: "ts" })).map((text) => ({ file, text }))
  )
  assert.isAbove(texts.length, 400)
  assert.deepStrictEqual(
    [...Map.groupBy(texts, ({ text }) => text)].filter(([, places]) => places.length > 1),
    []
  )
})
