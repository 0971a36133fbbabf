/** What a run did, in one form for import, apply, update, delete and undo. The counts always add up. */
import type { RunReport } from "@roster/workflows"
import { countLines } from "../../../terminal/Printable.ts"

/**
 * The report as JSON, by the names that it has for programs, with `facts` of the command beside it. An error that stopped the
 * run is told as the failure of the command.
 */
export const runSummary = <Facts extends object>(report: RunReport, facts: Facts) => {
  const { run, stoppedBy: _stoppedBy, ...told } = report
  return { ...facts, ...(run === undefined ? {} : { run }), ...told }
}

/** The counts as lines; what is indented below a count is of it. */
export const runLines = ({
  alreadySo,
  changed,
  deleted,
  done,
  duplicates,
  leftOut,
  new: added,
  notSent,
  outdated,
  read,
  rejected,
  unknown,
  unknownWhetherNew
}: RunReport): ReadonlyArray<string> => {
  const some = (counts: { readonly [name: string]: number }) =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
  const isUnknown = unknownWhetherNew > 0 && unknownWhetherNew === done
  const known = isUnknown ? {} : { new: added, changed, ...some({ deleted }), alreadySo }
  const effects = { ...known, ...some({ unknownWhetherNew }) }
  return [
    ...countLines({ read, done }, 12),
    ...countLines(effects).map((line) => `  ${line}`),
    ...countLines({ rejected, duplicates, ...some({ leftOut, outdated }), notSent, unknown }, 12)
  ]
}
