/** The sign of the program, as in its tab: in the head, and at the door. */

export const Logo = () => (
  <svg className="logo" viewBox="0 0 20 20" fillRule="evenodd" aria-hidden="true">
    <path d="M5 0h10a5 5 0 0 1 5 5v10a5 5 0 0 1-5 5H5a5 5 0 0 1-5-5V5a5 5 0 0 1 5-5M4 5v2h2V5zm4 0v2h8V5zM4 9v2h2V9zm4 0v2h8V9zm-4 4v2h2v-2zm4 0v2h4v-2z" />
  </svg>
)
