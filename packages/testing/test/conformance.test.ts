/**
 * The suite on the layers on SQLite. A file and the socket are what a normal run needs: the other two have the same store and the
 * same client, so a normal run tries them with what they do themselves, and the nightly run with everything.
 */
import { describe } from "@effect/vitest"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { longRun } from "../src/durability/LongRun.ts"
import { layerEmbedded, layerFile, layerMemory, layerServed } from "../src/index.ts"

testConformance("SQL in memory", conformance.all(), layerMemory)
testConformance("HTTP client, server, SQL on a file, over a socket", conformance.all(), layerServed)

describe.skipIf(!longRun)("(nightly)", () => {
  testConformance("SQL on a file", conformance.all(), layerFile)
  testConformance("HTTP client, server, SQL on a file, in one process", conformance.all(), layerEmbedded)
})
