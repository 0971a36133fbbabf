import { expect, inject, it } from "vitest"

it("has the PostgreSQL that all files share", async () => {
  const answer = await fetch(inject("postgres"))
  expect(await answer.text()).toMatch(/url|problem/)
})
