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

/** The licence of the icons of the page, of which it has a few paths. */
const icons = {
  module: "/kit/Icon.tsx",
  notice: `lucide 1.62.0 (ISC)

ISC License

Copyright (c) 2026 Lucide Icons and Contributors

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.

Some of them are derived from those of the Feather project:

The MIT License (MIT)

Copyright (c) 2013-present Cole Bemis

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`
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
  if (files.some((file) => file.endsWith(icons.module))) notices.push(icons.notice)
  const line = `\n${"-".repeat(78)}\n\n`
  return ["The files of roster contain code of these projects.\n", ...new Set(notices.toSorted())].join(line)
}
