/** The OpenAPI document in the repository is the one that the interface gives, and a linter finds nothing in it. */
import { createConfig, lint } from "@redocly/openapi-core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import * as domain from "../../packages/domain/src/index.ts"
import { operations as allOperations } from "../../packages/api/src/Operation.ts"
import { examples } from "../../packages/api/src/OpenApiDocument.ts"
import { file, text } from "../printOpenApi.ts"

/** The records and lists that the interface names. */
const resources =
  "ApiKey ApiKeyPayload ApiKeyUpdatePayload CompressionFormat Contact ContactPayload ContactUpdatePayload EmailsPayload " +
  "ExportFileFormats ExportLink ExportStatus NewApiKey NewSmtpCredentials SmtpCredentials " +
  "SmtpCredentialsPayload SmtpUpdatePayload"

describe("the OpenAPI document", () => {
  const document = JSON.parse(text())

  it("stands in its package as it is", () => {
    assert.strictEqual(readFileSync(file, "utf8"), text(), "run: pnpm docs:openapi")
  })

  it("passes the rules that Redocly recommends, warnings included", async () => {
    const config = await createConfig({ extends: ["recommended"] })
    const problems = await lint({ ref: file, config })
    assert.deepStrictEqual(
      problems.map(({ location, message, ruleId }) => [ruleId, message, location[0]?.pointer]),
      []
    )
  })

  it("names its schemas as the interface does", () => {
    const names = Object.keys(document.components.schemas)
    assert.includeMembers(names, resources.split(" "))
    assert.deepStrictEqual(
      names.filter((name) => name.endsWith("Encoded")),
      []
    )
  })

  it("describes every parameter, and each status in words", () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(Object(path)))
    assert.strictEqual(operations.length, allOperations.size)
    for (const { operationId, parameters, responses } of operations.map(Object)) {
      for (const { description, name } of parameters) assert.isString(description, `${operationId} ${name}`)
      for (const [status, { description }] of Object.entries<{ description: string }>(responses)) {
        assert.match(description, / |Done/, `${operationId} ${status}`)
      }
    }
  })

  it.each(Object.entries(examples))("has an example of %s that the code reads", (name, example) => {
    const records = {
      ...domain,
      EmailMessageData: domain.EmailMessage,
      ChangeAnswer: domain.ChangeAnswerRecord,
      ContactsList: domain.ContactList,
      Run: domain.RunRecord,
      RunChange: domain.RecordedChange
    }
    const schema = Object.entries(records).find(([record]) => record === name)?.[1]
    assert.isTrue(Schema.isSchema(schema))
    assert.deepStrictEqual(document.components.schemas[name].examples, [example])
    // The records need no service to decode, and have types of their own.
    const codec = schema as unknown as Schema.Codec<unknown, object>
    Schema.decodeSync(codec, { onExcessProperty: "error" })(example)
  })
})
