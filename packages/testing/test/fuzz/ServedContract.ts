/**
 * The OpenAPI document that a service serves: which statuses an operation may answer and how, and what it may be asked.
 * Answers are also decoded with the schemas of our own client.
 */
import { ErrorBody, RosterApi } from "@roster/api"
import { JsonParser } from "@roster/domain/internal"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Schema } from "effect"

/** A JSON schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

const Node = Schema.Record(Schema.String, Schema.Unknown)
const Content = Schema.Record(Schema.String, Schema.Struct({ schema: Schema.optionalKey(Node) }))

const Document = Schema.Struct({
  paths: Schema.Record(
    Schema.String,
    Schema.Record(
      Schema.String,
      Schema.Struct({
        operationId: Schema.String,
        parameters: Schema.Array(Schema.Struct({ name: Schema.String, in: Schema.String, schema: Node })),
        requestBody: Schema.optionalKey(Schema.Struct({ content: Content })),
        responses: Schema.Record(Schema.String, Schema.Struct({ content: Schema.optionalKey(Content) }))
      })
    )
  ),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, Node) })
})

/** The media type of all bodies but forms and files. */
const json = "application/json"

/** What the document says of an operation. */
export interface ServedOperation {
  readonly id: string
  readonly method: string
  /** The path below the base address, with the names of its parameters in braces. */
  readonly path: string
  readonly query: ReadonlyArray<{ readonly name: string; readonly schema: JsonSchema }>
  /** The schema of its JSON body, if it takes one. */
  readonly body: JsonSchema | undefined
  readonly isForm: boolean
  readonly statuses: ReadonlySet<number>
  /** What is wrong with the body of an answer, or `undefined`. */
  readonly issueOf: (status: number, text: string) => string | undefined
}

export interface ServedContract {
  readonly operations: ReadonlyMap<string, ServedOperation>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Decodes the successes of each operation as our client does. */
const decoders = new Map(
  Object.values(RosterApi.groups).flatMap(({ endpoints }) =>
    Object.values(endpoints).map(({ identifier, success }): readonly [string, (value: unknown) => unknown] => {
      // No schema of the contract needs a service to decode.
      const codecs = Array.from(success, (schema) => Schema.toCodecJson(schema as Schema.Codec<unknown>))
      return [identifier, Schema.decodeUnknownSync(Schema.Union(codecs))]
    })
  )
)

const decodeError = Schema.decodeUnknownSync(ErrorBody)

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

export const readContract = (text: string, versionSegment: string): ServedContract => {
  const { components, paths } = Schema.decodeUnknownSync(Document)(JSON.parse(text))
  // The document has words that no schema has; formats are checked by our own schemas.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
  const operations = new Map<string, ServedOperation>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId: id, parameters, requestBody, responses } = operation
      const checks = new Map(
        Object.entries(responses).map(([status, { content }]) => {
          const schema = content?.[json]?.schema
          return [Number(status), schema === undefined ? undefined : ajv.compile({ ...schema, components })] as const
        })
      )
      const issueOf = (status: number, text: string): string | undefined => {
        const check = checks.get(status)
        if (check === undefined) return text === "" ? undefined : "the document has no body here"
        try {
          const value = JsonParser.parse(text)
          if (!check(value)) return `the document says otherwise: ${ajv.errorsText(check.errors)}`
          if (status < 300) decoders.get(id)?.(value)
          else if (Object.keys(decodeError(value)).join() !== Object.keys(Object(value)).join())
            return "more than Error"
          return undefined
        } catch (error) {
          return messageOf(error)
        }
      }
      operations.set(id, {
        id,
        method: method.toUpperCase(),
        path: path.replace(`/${versionSegment}`, ""),
        query: parameters.filter((parameter) => parameter.in === "query"),
        body: requestBody?.content[json]?.schema,
        isForm: requestBody?.content["multipart/form-data"] !== undefined,
        statuses: new Set(checks.keys()),
        issueOf
      })
    }
  }
  return { operations, schemas: components.schemas }
}
