/** The page at `/` for a person who opens the address of the service in a browser. It shows no data and runs nothing. */
import { versionSegment } from "@roster/api"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

/** Its addresses are relative, since a proxy may serve it below a path. */
const html = (note: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Roster</title>
<h1>Roster</h1>
<p>This service keeps contacts and access credentials for programs, which call it with an API key.</p>
${note}<ul>
<li><a href="docs">The interface, to read and to try</a></li>
<li><a href="${versionSegment}/openapi.json">Its OpenAPI document</a></li>
<li><a href="health/ready">Whether the service is ready</a></li>
</ul>
</html>
`

/** Whether a browser asks for the root, for a person. */
export const isForPeople = ({ headers, method, url }: HttpServerRequest.HttpServerRequest): boolean =>
  (method === "GET" || method === "HEAD") && url === "/" && /\btext\/html\b/.test(headers["accept"] ?? "")

const shown = (note = "") =>
  HttpServerResponse.text(html(note), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      vary: "accept"
    }
  })

export const frontPage = shown()

/** The front page of a service that does not show its page for contacts, since others could read along. */
export const frontPageWithoutTls = shown(
  `<p>The page for contacts is not shown over plain http, since others on the way could read a key that is typed there: give the
service a certificate, open it through a proxy with TLS that it trusts, or open it on its own machine as <code>localhost</code>.</p>
`
)
