/** The texts of the thread that reads files, which has a script of its own. */
import { number } from "./Language.ts"

export const threadTexts = {
  mergedInto: (line: number): string => `It is merged into line ${number(line)}.`,
  lost: "The browser cannot read the file any more. It was changed or moved; choose it again.",
  notNewest: "This plan is no longer the newest one. Plan the import again."
}
