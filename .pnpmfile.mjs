/** Adds to the manifest of a package, when it is packed, where it comes from: the root's package.json says it for all. */
import { readFileSync } from "node:fs"

export const hooks = {
  beforePacking: (manifest) => {
    const { repository } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"))
    const page = repository.url.replace(/^git\+(.*)\.git$/, "$1")
    const directory = manifest.name.replace("@roster/", "packages/")
    return {
      ...manifest,
      homepage: `${page}/tree/main/${directory}#readme`,
      bugs: { url: `${page}/issues` },
      repository: { ...repository, directory }
    }
  }
}
