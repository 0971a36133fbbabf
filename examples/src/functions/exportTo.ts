import { exportTo } from "@roster/workflows"
import { Console, Stream } from "effect"

const sink = Stream.runForEach((part: Uint8Array) => Console.error(`${part.length} bytes`))

export const example = exportTo({ fileFormat: "Json" }, sink, { limit: "5 minutes" })
