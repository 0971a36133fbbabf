/** The manual page of the command line, which `npm install --global` installs: the pages of help, one after the other. */
import { firstPage } from "../packages/cli/src/main/FirstPage.ts"
import type { HelpPages } from "../packages/cli/src/main/StaticHelp.ts"
import { version } from "../packages/cli/src/terminal/Version.ts"

/** Its file in the package. */
export const manFile = "roster.1"

const escaped = (text: string): string =>
  text
    .trimEnd()
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/^(?=[.'])/gm, "\\&")

const section = (title: string, text: string): string => `.SH "${escaped(title)}"\n.nf\n${escaped(text)}\n.fi\n`

/** The page in the language of `man`. */
export const manPage = (pages: HelpPages): string =>
  [
    `.TH ROSTER 1 "" "roster ${version}"\n`,
    '.SH "NAME"\nroster \\- contacts and access credentials from the command line\n',
    section("DESCRIPTION", firstPage),
    ...Object.entries(pages).map(([words, text]) => section(`roster ${words}`.trim(), text))
  ].join("")
