/** The number of contacts, typed before something is done to many of them. */

/** Whether the number was typed. */
export const isSure = (typed: string, count: number): boolean => typed.trim() === String(count)

export const NumberToType = ({
  count,
  onType,
  typed
}: {
  readonly count: number
  readonly typed: string
  readonly onType: (text: string) => void
}) => (
  <label>
    Type the number of contacts, {count}, to confirm
    <input inputMode="numeric" autoComplete="off" value={typed} onChange={(event) => onType(event.target.value)} />
  </label>
)
