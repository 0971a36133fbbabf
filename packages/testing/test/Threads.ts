/** The files that threads begin with, as they are published: a thread takes most of a second to load the sources. */

export const jobThread = new URL("../../cli/dist/roster/workerEntry.js", import.meta.url)
