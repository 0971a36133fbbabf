import { conformance, layerEmbedded, layerFile, layerMemory, layerServed } from "../src/index.ts"

conformance("SQL in memory", layerMemory)
conformance("SQL on a file", layerFile)
conformance("HTTP client, server, SQL on a file, in one process", layerEmbedded)
conformance("HTTP client, server, SQL on a file, over a socket", layerServed)
