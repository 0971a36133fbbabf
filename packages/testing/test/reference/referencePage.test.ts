/**
 * The page about the interface: what it is served with, and that a browser without network shows it and asks the service
 * from it. With `ROSTER_SCREENSHOT=docs/reference.png` it also takes the picture of the documentation.
 */
import { operations } from "@roster/api"
import { examples } from "@roster/api/OpenApiDocument"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { actionTimeout, browser, hasBrowser, openIn } from "../browser/Browser.ts"
import { answerTo, bodyOf, rawServed, type RawServed, refusedAs, statusOf } from "../security/RawServed.ts"

const pageOf = ({ address }: RawServed): string => new URL("/docs", address).href

/** Opens the page, with what it asked for and what the browser complained about. */
const opened = Effect.fnUntraced(function* (url: string) {
  const shown = yield* openIn(yield* browser, url)
  yield* Effect.promise(() => shown.page.getByRole("button", { name: "Authorize" }).waitFor())
  return shown
})

type Page = Effect.Success<ReturnType<typeof opened>>["page"]

const authorize = async (page: Page, key: string): Promise<void> => {
  await page.getByRole("button", { name: "Authorize" }).click()
  const field = page.getByLabel("Value:")
  assert.strictEqual(await field.inputValue(), "")
  await field.fill(key)
  await page.locator(".modal-btn.authorize").click()
  await page.getByRole("button", { name: "Close" }).click()
}

/** Sends the example of an operation, or a file, and gives the status and the body that the page shows. */
const tried = async (page: Page, operation: string, file?: string) => {
  const block = page.locator(`#operations-Contacts-${operation}`)
  await block.locator(".opblock-summary-control").click()
  await block.getByRole("button", { name: "Try it out" }).click()
  if (file !== undefined) {
    const buffer = Buffer.from(file)
    await block.locator("input[type=file]").setInputFiles({ name: "contacts.csv", mimeType: "text/csv", buffer })
  }
  await block.getByRole("button", { name: "Execute" }).click()
  const answer = block.locator(".live-responses-table tbody")
  await answer.locator(".response-col_status").waitFor()
  const body = answer.locator(".highlight-code code").first()
  return {
    status: await answer.locator(".response-col_status").innerText(),
    body: (await body.count()) === 0 ? "" : await body.innerText()
  }
}

describe("the page about the interface", () => {
  it.live("needs no key, holds none, and may run its own scripts alone", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const answer = yield* answerTo(served, "GET /docs", { "X-Service-ApiKey": undefined })
      assert.strictEqual(statusOf(answer), 200)
      assert.match(answer, /\r\ncontent-type: text\/html; charset=utf-8\r\n/i)
      const policy = /\r\ncontent-security-policy: (.*)\r\n/i.exec(answer)?.[1] ?? ""
      assert.match(
        policy,
        /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; img-src data:; connect-src 'self'; /
      )
      assert.include(policy, "frame-ancestors 'none'")
      assert.notMatch(policy, /unsafe|http|\*/)
      assert.match(answer, /\r\ncache-control: no-store\r\n/i)
      assert.match(answer, /\r\nx-content-type-options: nosniff\r\n/i)
      const html = bodyOf(answer)
      assert.include(html, "contactsByEmailGet")
      assert.notInclude(html, served.key)
      assert.notMatch(html, /<(?:script|link|img|iframe)[^>]* (?:src|href)=/)
      const head = yield* answerTo(served, "HEAD /docs", { "X-Service-ApiKey": undefined })
      assert.strictEqual(bodyOf(head), "")
      assert.match(head, new RegExp(`\r\ncontent-length: ${Buffer.byteLength(html, "latin1")}\r\n`, "i"))
    })
  )

  it.live("is reached from a page at the root, which is for browsers alone", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const accept = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8", "X-Service-ApiKey": undefined }
      const front = yield* answerTo(served, "GET /", accept)
      assert.strictEqual(statusOf(front), 200)
      const links = Array.from(bodyOf(front).matchAll(/href="([^"]+)"/g), ([, link = ""]) => link)
      assert.deepStrictEqual(links, ["docs", "v4/openapi.json", "health/ready"])
      for (const link of links) {
        assert.strictEqual(statusOf(yield* answerTo(served, `GET /${link}`, { "X-Service-ApiKey": undefined })), 200)
      }
      assert.match(front, /content-security-policy: default-src 'none'/i)
      refusedAs(yield* answerTo(served, "GET /", { Accept: "*/*", "X-Service-ApiKey": undefined }), 401)
      refusedAs(yield* answerTo(served, "GET /", { Accept: "application/json" }), 404)
      refusedAs(yield* answerTo(served, "POST /", { ...accept, "Content-Length": "0" }), 401)
      refusedAs(yield* answerTo(served, "GET /", { ...accept, Host: "evil.example" }), 421)
    })
  )

  it.live("is no page of another name, and has no other method", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      refusedAs(yield* answerTo(served, "GET /docs", { Host: "evil.example" }), 421)
      refusedAs(yield* answerTo(served, "POST /docs", { "Content-Length": "0" }), 405)
      refusedAs(yield* answerTo(served, "GET /docs/", { "X-Service-ApiKey": undefined }), 401)
    })
  )

  it.live("says in the document at which address the client sees the service", () =>
    Effect.gen(function* () {
      const serversFor = Effect.fnUntraced(function* (publicUrl: string | undefined, headers: Record<string, string>) {
        const served = yield* rawServed(publicUrl === undefined ? {} : { publicUrl: new URL(publicUrl) })
        const answer = yield* answerTo(served, "GET /v4/openapi.json", headers)
        return Object(JSON.parse(bodyOf(answer))).servers
      })
      assert.deepStrictEqual(yield* serversFor(undefined, { Host: "localhost:81" }), [
        { url: "http://localhost:81/v4" }
      ])
      assert.deepStrictEqual(yield* serversFor("https://roster.example/lists", { Host: "roster.example" }), [
        { url: "https://roster.example/lists/v4" }
      ])
    })
  )
})

describe("the examples of the document", () => {
  it.live("are taken by the service", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const sent = Effect.fnUntraced(function* (method: string, path: string, body: object) {
        const headers = { "Content-Type": "application/json", "X-Service-ApiKey": served.key }
        const answer = yield* Effect.promise(() =>
          fetch(`${served.address}${path}`, { method, headers, body: JSON.stringify(body) })
        )
        return [answer.status, yield* Effect.promise(() => answer.text())] as const
      })
      const { ApiKeyPayload, ContactChange, ContactPayload, ContactUpdatePayload, EmailMessageData, EmailsPayload } =
        examples
      assert.strictEqual((yield* sent("POST", "/contacts", [ContactPayload]))[0], 200)
      assert.strictEqual((yield* sent("PUT", "/contacts/ada@example.com", ContactUpdatePayload))[0], 200)
      const again = { ...ContactChange, Seen: { ...ContactChange.Seen, CustomFields: { city: "Paris" } } }
      assert.deepStrictEqual(yield* sent("POST", "/contacts/changes", [again, ContactChange]), [
        200,
        '[{"Result":"Done"},{"Result":"AlreadySo"}]'
      ])
      assert.strictEqual((yield* sent("POST", "/contacts/delete", EmailsPayload))[0], 200)
      assert.strictEqual((yield* sent("POST", "/security/apikeys", ApiKeyPayload))[0], 201)
      assert.strictEqual((yield* sent("POST", "/security/smtp", examples.SmtpCredentialsPayload))[0], 201)
      // A new store allows no sender.
      const [status, text] = yield* sent("POST", "/emails", EmailMessageData)
      assert.deepStrictEqual([status, /shop@example\.com.*is not allowed/.test(text)], [400, true], text)
    })
  )
})

describe.skipIf(!hasBrowser)("the page about the interface in Chromium", () => {
  it.live(
    "shows every operation without network, sends one with the key that is typed, and forgets the key",
    () =>
      Effect.gen(function* () {
        const served = yield* rawServed()
        const { complaints, page, requests } = yield* opened(pageOf(served))
        assert.strictEqual(yield* Effect.promise(() => page.locator(".opblock").count()), operations.size)
        const path = process.env["ROSTER_SCREENSHOT"]
        if (path !== undefined) yield* Effect.promise(() => page.screenshot({ path }))

        const added = yield* Effect.promise(async () => {
          await authorize(page, served.key)
          return tried(page, "contactsPost")
        })
        assert.strictEqual(added.status, "200")
        const answer = bodyOf(yield* answerTo(served, "GET /v4/contacts/ada@example.com"))
        assert.deepStrictEqual(JSON.parse(added.body), [JSON.parse(answer)])
        const imported = yield* Effect.promise(() => tried(page, "contactsImportPost", "Email\nbob@example.com\n"))
        assert.match(imported.status, /^202\b/)
        assert.deepStrictEqual(requests, [
          `GET ${pageOf(served)}`,
          `POST ${served.address}/contacts`,
          `POST ${served.address}/contacts/import`
        ])
        assert.deepStrictEqual(complaints, [])

        const refused = yield* Effect.promise(async () => {
          await page.reload()
          await authorize(page, "wrong")
          return tried(page, "contactsGet")
        })
        assert.match(refused.status, /^401\b/)
        assert.property(JSON.parse(refused.body), "Error")
      }),
    // All that the browser does, a few seconds on an idle machine.
    3 * actionTimeout
  )
})
