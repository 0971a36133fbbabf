import { expect, inject, it } from "vitest"

it("fails beside a PostgreSQL", async () => {
  await fetch(inject("postgres"))
  expect(1).toBe(2)
})
