import { it } from "vitest"

it("ends the worker that runs it", () => {
  process.kill(process.pid, "SIGKILL")
})
