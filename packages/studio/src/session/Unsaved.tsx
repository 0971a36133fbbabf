/** What would be lost if the page or a dialog went: the browser, or the dialog, asks first. */
import type { AtomRegistry } from "effect/reactivity"
import { type ReactNode, useEffect, useRef, useState } from "preact/compat"
import { appTexts } from "../texts/AppTexts.ts"

/** Whether something would be lost. */
export type Loss = (registry: AtomRegistry.AtomRegistry) => boolean

const losses = new Set<Loss>()

/** Has the browser ask before the page goes while something would be lost: what atoms hold outlives the dialog in which it was written. */
export const askWhile = (loss: Loss): void => {
  losses.add(loss)
}

/** Whether the page holds what a reload would lose. */
export const isUnsaved: Loss = (registry) => [...losses].some((loss) => loss(registry))

/** Lets the page go without another question, once a person has answered one. */
export const loseAll = (): void => losses.clear()

/** A question that has to be answered first. It takes the focus, so that it is seen in a dialog that was scrolled. */
export const Asked = ({ children }: { readonly children: ReactNode }) => {
  const note = useRef<HTMLDivElement>(null)
  useEffect(() => note.current?.focus(), [])
  return (
    <div className="note stack" role="alert" ref={note} tabIndex={-1}>
      {children}
    </div>
  )
}

/** How a dialog closes: at once, or after a question if something is edited in it. */
export const useAskedClose = (
  isEdited: boolean,
  leave: () => void
): { readonly close: () => void; readonly question: ReactNode } => {
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    if (!isEdited) return
    const loss: Loss = () => true
    losses.add(loss)
    return () => {
      losses.delete(loss)
    }
  }, [isEdited])
  return {
    close: () => (isEdited ? setAsking(true) : leave()),
    question:
      isAsking && isEdited ? (
        <Asked>
          <p>{appTexts.notSaved}</p>
          <div className="buttons">
            <button type="button" onClick={() => setAsking(false)}>
              {appTexts.goOnEditing}
            </button>
            <button type="button" className="danger" onClick={leave}>
              {appTexts.closeWithout}
            </button>
          </div>
        </Asked>
      ) : null
  }
}
