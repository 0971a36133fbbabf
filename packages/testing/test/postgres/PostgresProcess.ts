/** The shared PostgreSQL in a process of its own, which says its address, or why it has none, and stops with its parent. */
import { startServer, testSettings } from "./PostgresServer.ts"

try {
  const server = await startServer({ settings: testSettings(false) })
  process.once("disconnect", () => void server.stop())
  process.send?.({ url: server.url.href })
} catch (cause) {
  process.send?.({ problem: cause instanceof Error ? cause.message : String(cause) })
  process.disconnect?.()
}
