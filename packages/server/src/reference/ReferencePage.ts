/**
 * What the service says about its interface: the OpenAPI document, and the page on which it is read and tried. The page is
 * Effect's own, with Swagger UI in it; it loads nothing, from here or elsewhere, and shows no data until its reader types a
 * key. `HttpApp` imports this at the first request for it.
 */
import { versionSegment } from "@roster/api"
import { documentedApi, openApiDocument } from "@roster/api/OpenApiDocument"
import { HttpRouter } from "effect/http"
import { HttpApiSwagger } from "effect/http-api"
import { createHash } from "node:crypto"

const hashesOf = (html: string, element: "script" | "style"): string =>
  Array.from(
    html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs")),
    ([, content = ""]) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`
  ).join(" ")

/** The page runs its own scripts and no others, asks only this service, and is shown in no other page. */
const policyOf = (html: string): string =>
  [
    "default-src 'none'",
    `script-src ${hashesOf(html, "script")}`,
    `style-src ${hashesOf(html, "style")}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** The page, and the policy that a browser shows it under. It calls the operations beside itself, wherever it is served. */
export const makeReferencePage = async (path: `/${string}`): Promise<{ html: string; policy: string }> => {
  const page = HttpApiSwagger.layer(documentedApi([{ url: versionSegment }]), { path })
  const { dispose, handler } = HttpRouter.toWebHandler(page, { disableLogger: true })
  try {
    const answer = await handler(new Request(new URL(path, "http://localhost")))
    const html = await answer.text()
    return { html, policy: policyOf(html) }
  } finally {
    await dispose()
  }
}

/** The OpenAPI document but for the address of the service. */
export const makeDocument = (): object => openApiDocument([])
