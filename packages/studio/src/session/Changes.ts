/** What asks again for what the page shows after a write, in a file of its own since views that only read need no more. */

/** What asks for contacts, and for runs, again after a change. */
export const contactsChanged = ["contacts", "runs"]

/** What asks for keys again. */
export const keysChanged = ["keys"]

/** What asks for saved rules again. */
export const rulesChanged = ["savedRules"]

/** What asks for everything again. */
export const everything = [...contactsChanged, ...keysChanged, ...rulesChanged, "rights"]
