/** What the thread for large requests runs where nothing was bundled. */
import { workerData } from "node:worker_threads"
import { work } from "./RequestThread.ts"

work(workerData)
