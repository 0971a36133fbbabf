/** What a browser loads of the page until it shows the first contacts, and that nothing of it comes from elsewhere. */
import { assert, it } from "@effect/vitest"
import { gzipSync } from "node:zlib"
import { gzipLevel } from "../bundleSizes.ts"
import { studioPage } from "../studioPage.ts"

const maximum = 170 * 1024

it("the page loads at most 170 KiB of scripts until the first contacts, and all of them by names of its own", async () => {
  const { files, first } = await studioPage()
  const scripts = first.map((name) => files.get(name) ?? "")
  assert.isAtLeast(Math.min(...scripts.map(({ length }) => length)), 1)
  const size = scripts.reduce((sum, text) => sum + gzipSync(text, { level: gzipLevel }).length, 0)
  assert.isAtMost(size, maximum)
  const html = files.get("index.html") ?? ""
  const loaded = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, path = ""]) => path)
  assert.sameMembers(
    loaded.filter((path) => !path.startsWith("data:")),
    [...files.keys()].filter((name) => name === first[0] || name.endsWith(".css"))
  )
  // The policy of the page allows neither.
  assert.notMatch(html, /<style|<script(?![^>]* src=)|\son\w+=| style=/)
})
