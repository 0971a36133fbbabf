/** Writes the OpenAPI document of the interface into its file: `pnpm docs:openapi`. */
import { writeFileSync } from "node:fs"
import { openApiDocument } from "../packages/api/src/OpenApiDocument.ts"

export const file = "packages/api/openapi.json"

/** A service says its own address in the document that it serves. */
const servers = [{ url: "http://127.0.0.1:4010/v4", description: "roster serve on this machine" }]

export const text = (): string => `${JSON.stringify(openApiDocument(servers), null, 2)}\n`

if (import.meta.main) writeFileSync(file, text())
