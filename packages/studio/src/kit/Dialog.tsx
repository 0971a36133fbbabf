/** A dialog of the browser itself, which keeps the focus, ends with Escape and gives the focus back. */
import { type ReactNode, useEffect, useId, useRef } from "preact/compat"

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
  useEffect(() => dialog.current?.showModal(), [])
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
