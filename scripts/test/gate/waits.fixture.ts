import { inject, it } from "vitest"

it("waits beside a PostgreSQL until the run is killed", { timeout: 600_000 }, async () => {
  await fetch(inject("postgres"))
  process.stdout.write("waiting\n")
  await new Promise(() => {})
})
