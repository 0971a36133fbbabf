/** States as coloured marks with their word, so that nobody has to see the colour. */
import type { ReactNode } from "preact/compat"
import { statusWords } from "../texts/SharedTexts.ts"

/** What a colour says: it goes well, look at it, it is wrong, or nothing of these. */
export type Tone = "good" | "warn" | "wrong" | "plain"

/** A state in a word or two. */
export const Mark = ({ children, tone = "plain" }: { readonly tone?: Tone; readonly children: ReactNode }) => (
  <span className={`mark ${tone}`}>{children}</span>
)

const tones: Readonly<Record<string, Tone>> = {
  Active: "good",
  Engaged: "good",
  Transactional: "good",
  NotConfirmed: "warn",
  Bounced: "wrong",
  Abuse: "wrong"
}

/** The status of a contact; nothing for none. */
export const StatusMark = ({ status }: { readonly status: string }) =>
  status === "" ? null : <Mark tone={tones[status] ?? "plain"}>{statusWords(status)}</Mark>

/** Values of which a person chooses one, such as statuses, in words. */
export const Choices = ({ of }: { readonly of: ReadonlyArray<string> }) =>
  of.map((value) => (
    <option key={value} value={value}>
      {statusWords(value)}
    </option>
  ))
