/** Saves what the page has made as a file. */
export const download = (name: string, content: Blob): void => {
  const address = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  // The browser has taken it when the next task begins.
  setTimeout(() => URL.revokeObjectURL(address))
}
