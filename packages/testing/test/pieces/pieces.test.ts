/** The longest pieces on a file. */
import { Effect } from "effect"
import { piecesCases } from "./Pieces.ts"

piecesCases("on a file", Effect.succeed({}))
