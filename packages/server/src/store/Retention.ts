/** How long the store keeps what expires, in seconds. */

/** The answer to a call with an Idempotency-Key: 1 hour, longer than any client retries. */
export const answerSeconds = 60 * 60

/** The file of an export, and one that is still being received: 24 hours. */
export const fileSeconds = 24 * 60 * 60

/** A job that has ended, with the rows that it rejected: 30 days. */
export const jobSeconds = 30 * 24 * 60 * 60
