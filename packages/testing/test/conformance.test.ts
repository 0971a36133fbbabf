/**
 * The suite on the layers on SQLite. A normal run tries the store alone and the whole of client, socket and server; what stands between
 * them is tried nightly.
 */
import { describe } from "@effect/vitest"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { longRun } from "../src/simulation/LongRun.ts"
import { layerEmbedded, layerFile, layerMemory } from "../src/index.ts"
import { layerServedWith } from "../src/layers/ServiceLayers.ts"
import { jobThread } from "./Threads.ts"

testConformance("SQL in memory", conformance.all(), layerMemory)
testConformance("HTTP client, server, SQL on a file, over a socket", conformance.all(), layerServedWith({ jobThread }))

describe.skipIf(!longRun)("(nightly)", () => {
  testConformance("SQL on a file", conformance.all(), layerFile)
  testConformance("HTTP client, server, SQL on a file, in one process", conformance.all(), layerEmbedded)
})
