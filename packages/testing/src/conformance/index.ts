export { type CaseFailed, type ConformanceCase, type Need, type Precondition, preconditions } from "./cases/Cases.ts"
export * from "./Conformance.ts"
export { checkAccount, NotConformant } from "./account/AccountCheck.ts"
export { NotCleanedUp } from "./account/CleanUp.ts"
