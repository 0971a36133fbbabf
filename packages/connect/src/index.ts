export * as Connection from "./Connection.ts"
