/** The longest pieces on PostgreSQL. */
import { piecesCases } from "../pieces/Pieces.ts"
import { describePostgres, servedOnFresh } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  piecesCases("on PostgreSQL", servedOnFresh)
})
