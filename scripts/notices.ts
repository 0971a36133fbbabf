/** Collects the licences of what a bundle contains of other projects, as these ask for. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The file of the notices, beside the files that contain the code. */
export const noticesFile = "THIRD-PARTY-NOTICES.txt"

/**
 * The folder of the package that a module belongs to; `undefined` for our own modules and for those that the bundler
 * makes.
 */
const packageFolder = (module: string): string | undefined =>
  /^[^\0].*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module.replaceAll("\\", "/"))?.[0]

const licenceIn = (folder: string): string => {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.\w+)?$/i.test(name))
  if (file === undefined) throw new Error(`${folder} has no file with its licence, which has to be shipped`)
  return readFileSync(join(folder, file), "utf8").trim()
}

/** The licence of the page at /docs, which Effect contains as a text. That of TypeScript is the same one. */
const inlined = {
  module: "/httpApiSwagger.js",
  notice: () =>
    `swagger-ui (Apache-2.0)\n\nCopyright SmartBear Software ` +
    `Inc.\n\n${licenceIn(join(import.meta.dirname, "../node_modules/typescript"))}\n`
}

/** The notices for modules, in the order of the names of their packages. Stops the build where a licence is missing. */
export const noticesOf = (modules: Iterable<string>): string => {
  const files = [...modules]
  const folders = new Set(files.map(packageFolder).filter((folder) => folder !== undefined))
  const notices = Array.from(folders, (folder) => {
    const { license, name, version } = Object(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
    return `${name} ${version} (${license})\n\n${licenceIn(folder)}\n`
  })
  if (files.some((file) => file.endsWith(inlined.module))) notices.push(inlined.notice())
  const line = `\n${"-".repeat(78)}\n\n`
  return ["The files of roster contain code of these projects.\n", ...new Set(notices.toSorted())].join(line)
}
