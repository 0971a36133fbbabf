import { it } from "vitest"

it("passes, and leaves a promise that is rejected", () => {
  void Promise.reject(new Error("nobody handles this"))
})
