/** Which part of a long list is shown, and the way to the others. */

/** Maximum number of rows of a table that are shown together. */
export const pageSize = 50

/** Goes from page to page, counted from 0. */
export const Pager = ({
  onPage,
  page,
  total
}: {
  readonly page: number
  readonly total: number
  readonly onPage: (page: number) => void
}) => {
  if (total <= pageSize) return null
  const first = page * pageSize
  return (
    <div className="bar">
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Back
      </button>
      <span>
        {(first + 1).toLocaleString()} to {Math.min(total, first + pageSize).toLocaleString()} of{" "}
        {total.toLocaleString()}
      </span>
      <button type="button" disabled={first + pageSize >= total} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </div>
  )
}
