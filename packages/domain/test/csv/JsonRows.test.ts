import { assert, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { readContacts } from "../../src/csv/ContactCsv.ts"

const outcomes = (text: string) =>
  readContacts(Stream.make(new TextEncoder().encode(text))).pipe(
    Stream.map(({ contact }) => Result.getOrElse(contact, (reason) => reason)),
    Stream.runCollect,
    Effect.catchTag("UnreadableFile", ({ reason }) => Effect.succeed(reason))
  )

const good = '{"Email":"bob@example.com"}'
const bob = { email: "bob@example.com" }

it.effect.each<readonly [string, unknown]>([
  [
    `{"Email":"ann@example.com","tags":["a"]}\n${good}`,
    ['"tags" is a list, an object or a number of too many digits, not a text', bob]
  ],
  [
    `[{"Email":"ann@example.com","Email":"b@example.com"},${good}]`,
    ["an object gives a name twice, the second time at character 28", bob]
  ],
  [`{"Email" "ann@example.com"}\n${good}`, ["the object is no valid JSON", bob]],
  ['{"Mail":"ann@example.com"}', 'the object has no column "Email"; it reads "Mail"'],
  ["{}", 'the object has no column "Email"; it is empty'],
  ["_error\nb\n", 'the header has no column "Email"; it is empty']
])("an object that cannot be read is rejected alone, also as the first: %s", ([text, expected]) =>
  Effect.map(outcomes(text), (found) => assert.deepStrictEqual<unknown>(found, expected))
)
