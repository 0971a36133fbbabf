/**
 * Repeating a POST without doing it twice: the client gives each call a key, the same on all its attempts, and a service
 * that honours it answers a key that it has seen with the answer it gave. Our service says so on every answer, since a
 * client may only rely on it where it is told. (docs/decisions/retries.md)
 */

/** The header that carries the key of a call. */
export const idempotencyKeyHeader = "Idempotency-Key"

/** The header by which a service says that it honours the key; in lower case, as it is read. */
export const idempotencyHonoured = { name: "roster-idempotency-key", value: "honoured" } as const
