/** Which part of a long table is shown, and the way to the others. */
import { Atom } from "effect/reactivity"
import { useAtom } from "./Atoms.tsx"
import { counted, type Forms } from "../texts/Language.ts"
import { nouns, sharedTexts } from "../texts/SharedTexts.ts"
import { Icon, type IconName } from "./Icon.tsx"

/** The numbers of rows of a page that a person can choose. */
export const sizes = [25, 50, 100, 250]

/** The number of rows that every table shows together. */
export const pageSize = Atom.keepAlive(Atom.make(50))

/** The first row of the last page, counted from 0. */
export const lastFirst = (total: number, size: number): number => Math.max(0, Math.floor((total - 1) / size) * size)

/** Goes from page to page. */
export const Pager = ({
  first,
  noun = nouns.contact,
  onFirst,
  total
}: {
  /** The first row that is shown, counted from 0. */
  readonly first: number
  readonly total: number
  /** What a row is. */
  readonly noun?: Forms
  readonly onFirst: (first: number) => void
}) => {
  const [size, setSize] = useAtom(pageSize)
  const last = lastFirst(total, size)
  const to = (title: string, icon: IconName, next: number) => (
    <button
      type="button"
      className="sign"
      aria-label={title}
      title={title}
      disabled={next === first}
      onClick={() => onFirst(next)}
    >
      <Icon name={icon} />
    </button>
  )
  return (
    <div className="bar pager">
      <span role="status">
        {total <= size ? counted(total, noun) : sharedTexts.page(first + 1, Math.min(total, first + size), total, noun)}
      </span>
      {total <= Math.min(...sizes) ? null : (
        <span className="pages">
          {total <= size ? null : (
            <>
              {to(sharedTexts.first, "first", 0)}
              {to(sharedTexts.previous, "previous", Math.max(0, first - size))}
              {to(sharedTexts.next, "next", Math.min(last, first + size))}
              {to(sharedTexts.last, "last", last)}
            </>
          )}
          <select
            aria-label={sharedTexts.rowsPerPage}
            value={size}
            onChange={({ currentTarget: { value } }) => {
              const chosen = Number(value)
              setSize(chosen)
              onFirst(Math.floor(first / chosen) * chosen)
            }}
          >
            {sizes.map((one) => (
              <option key={one} value={one}>
                {sharedTexts.ofRows(one)}
              </option>
            ))}
          </select>
        </span>
      )}
    </div>
  )
}
