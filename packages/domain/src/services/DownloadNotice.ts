/** How a layer tells the caller that a file comes from elsewhere than its link says. */
import { Context, Effect } from "effect"

/**
 * Called with a sentence for people, once in a download (default: a warning of the log). A reference, since only a layer over
 * HTTP has a notice to give.
 */
export const DownloadNotice = Context.Reference<(notice: string) => Effect.Effect<void>>(
  "@roster/domain/DownloadNotice",
  { defaultValue: () => Effect.logWarning }
)
