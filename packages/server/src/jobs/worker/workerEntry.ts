/**
 * What the thread of jobs begins with where nothing was bundled.
 */
import { workerData } from "node:worker_threads"
import { work } from "./JobWorker.ts"

work(workerData)
