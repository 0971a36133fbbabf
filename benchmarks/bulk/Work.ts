/** What every trial is told. */
import { argument } from "../src/Trial.ts"

export const apiKey = "a".repeat(64)
export const baseUrl = argument("url")
export const file = argument("file")
export const atOnce = Number(argument("at-once"))

/** How many contacts go into one request. */
export const perRequest = 1000
