/** What stands where nothing is to be shown yet: why, and what to do. */
import type { ReactNode } from "preact/compat"
import { Icon, type IconName } from "./Icon.tsx"

/** An empty place. Its children say what to do, and may have the button for it. */
export const Empty = ({
  children,
  icon,
  title
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
}) => (
  <div className="empty">
    <Icon name={icon} />
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
)
