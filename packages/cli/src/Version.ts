/**
 * The version of this package, as its package.json has it. A test holds the two together.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = "0.1.0"
