import { assert, it } from "@effect/vitest"
import { makeLastingRefusals } from "../../src/threads/LastingRefusals.ts"

it("says once what has been refused for long, until something is granted", () => {
  const said: Array<string> = []
  const { lasting, watch } = makeLastingRefusals((text) => void said.push(text), 0)
  const files = watch("files")
  const others = watch("others")
  files.refused()
  assert.deepStrictEqual(lasting(), [])
  const refuseForLong = () => {
    do files.refused()
    while (lasting().length === 0)
    files.refused()
  }
  refuseForLong()
  assert.deepStrictEqual(lasting(), ["files"])
  assert.deepStrictEqual(said, ["The service has refused all files for more than a minute."])
  others.granted()
  assert.deepStrictEqual(lasting(), ["files"])
  files.granted()
  assert.deepStrictEqual(lasting(), [])
  refuseForLong()
  assert.strictEqual(said.length, 2)
})
