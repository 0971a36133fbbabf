/** What a worker thread runs where nothing was bundled. */
import { workerData } from "node:worker_threads"
import { work } from "./WorkerThread.ts"

work(workerData)
