/** The bytes of a file of contacts. */
import type { Stream } from "effect"
import * as Blobs from "../../kit/Blobs.ts"
import { threadTexts } from "../../texts/ThreadTexts.ts"
import { ImportProblem } from "./ImportCalls.ts"

/** A file cannot be read any more. */
export const lost = () => new ImportProblem({ message: threadTexts.lost })

/** The bytes of a file. */
export const bytesOf = (file: Blob): Stream.Stream<Uint8Array, ImportProblem> => Blobs.bytesOf(file, lost)
