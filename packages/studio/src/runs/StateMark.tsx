/** How a run ended, as a mark. */
import type { ListedRun } from "@roster/workflows"
import { Mark, type Tone } from "../kit/Mark.tsx"
import { stateWords } from "./RunWords.ts"

const tones: Readonly<Record<ListedRun["state"], Tone>> = { Finished: "good", GoingOn: "warn", Interrupted: "wrong" }

export const StateMark = ({ run }: { readonly run: ListedRun }) => (
  <Mark tone={run.undoneBy === undefined ? tones[run.state] : "plain"}>{stateWords(run)}</Mark>
)
