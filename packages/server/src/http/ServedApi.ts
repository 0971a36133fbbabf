/**
 * The contract where it is served: below the version segment.
 */
import { RosterApi, versionSegment } from "@roster/api"

export const ServedApi = RosterApi.prefix(`/${versionSegment}`)
