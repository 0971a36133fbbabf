/** Metrics of requests. They name the route and not the path, so that nobody can be found in them and they stay few. */
import { type Context, Metric } from "effect"
import type { AccessEntry } from "../network/AccessLog.ts"

/** The bounds of the durations that are counted, in seconds. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** What paths and methods that the interface does not have are counted as. */
const other = "other"

const seriesOf = (method: string, route: string, status: string) => ({
  requests: Metric.counter("roster_requests_total", {
    description: "Requests by operation and status; none if the connection ended before the response",
    attributes: { method, route, status },
    incremental: true
  }),
  duration: Metric.histogram("roster_request_duration_seconds", {
    description: "Time from the head of a request to the end of its response",
    attributes: { method, route },
    boundaries
  })
})

/** Makes the function that counts a response by its entry of the access log. */
export const makeRequestMetrics = (context: Context.Context<never>): ((entry: AccessEntry) => void) => {
  const series = new Map<string, ReturnType<typeof seriesOf>>()
  return (entry) => {
    const route = entry.route ?? other
    // A method of the client's own would be a series of its own.
    const method = entry.route === null ? other : entry.method
    const status = entry.status === null ? "none" : String(entry.status)
    const name = `${method} ${route} ${status}`
    let known = series.get(name)
    if (known === undefined) {
      known = seriesOf(method, route, status)
      series.set(name, known)
    }
    known.requests.updateUnsafe(1, context)
    known.duration.updateUnsafe(entry.duration / 1000, context)
  }
}
