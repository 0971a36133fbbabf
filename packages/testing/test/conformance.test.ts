import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { layerEmbedded, layerFile, layerMemory, layerServed } from "../src/index.ts"

testConformance("SQL in memory", conformance.all(), layerMemory)
testConformance("SQL on a file", conformance.all(), layerFile)
testConformance("HTTP client, server, SQL on a file, in one process", conformance.all(), layerEmbedded)
testConformance("HTTP client, server, SQL on a file, over a socket", conformance.all(), layerServed)
