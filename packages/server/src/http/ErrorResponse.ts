/**
 * `{"Error": "text"}` for refusals that come from below the contract.
 */
import { HttpServerResponse } from "effect/http"

export const errorResponse = (status: number, text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ Error: text }, { status })
