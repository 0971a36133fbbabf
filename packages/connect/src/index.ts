/** The services from a service over HTTP or from a store in this process, as the settings choose. */
export * as Connection from "./Connection.ts"
