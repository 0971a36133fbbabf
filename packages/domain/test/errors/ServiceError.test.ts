import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import { RateLimited, ServiceError, type ServiceErrorReason, Unauthorized, Unavailable } from "../../src/index.ts"

const wait = (reason: ServiceErrorReason) => new ServiceError({ operation: "contactsGet", reason }).retryAfter

it("an error says how long the service asked to wait, whatever its reason", () => {
  assert.deepStrictEqual(wait(new RateLimited({ retryAfter: 90 })), Duration.seconds(90))
  assert.deepStrictEqual(wait(new Unavailable({ detail: "busy", retryAfter: 2 })), Duration.seconds(2))
  assert.isUndefined(wait(new RateLimited({})))
  assert.isUndefined(wait(new Unauthorized()))
})
