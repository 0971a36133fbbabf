/** Words for screen readers alone, as where a picture or its place says the same. */
import type { ReactNode } from "preact/compat"

/** Makes such words of a text. */
export const unseen = (words: string): ReactNode => <span className="unseen">{words}</span>
