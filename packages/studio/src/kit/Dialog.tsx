/** A dialog of the browser itself, which keeps the focus and ends with Escape. The focus then goes back to what opened the first of them. */
import { type ReactNode, useEffect, useId, useRef } from "preact/compat"

/** What had the focus before any dialog. */
let opener: HTMLElement | undefined

const noteOpener = (): void => {
  const { activeElement: now, body } = document
  if (now instanceof HTMLElement && now !== body && now.closest("dialog") === null) opener = now
}

/** The browser gives the focus back where a dialog closes, and not where it goes with what rendered it. */
const giveBack = (): void => {
  setTimeout(() => {
    const isFree = document.activeElement === document.body && document.querySelector("dialog[open]") === null
    if (isFree && opener?.isConnected === true) opener.focus()
  })
}

/** A dialog that is open while it is rendered. One that may not be closed by accident has no `onClose`. */
export const Dialog = ({
  children,
  onClose,
  title
}: {
  readonly title: string
  readonly children: ReactNode
  readonly onClose?: (() => void) | undefined
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    noteOpener()
    dialog.current?.showModal()
    return giveBack
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      // A second Escape closes it whatever the first one was answered. One that is still rendered then is open.
      onClose={() => {
        onClose?.()
        setTimeout(() => {
          if (dialog.current?.open === false) dialog.current.showModal()
        })
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  )
}
