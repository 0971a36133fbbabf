export {
  type CaseFailed,
  type ConformanceCase,
  describeNeed,
  type Need,
  type Precondition,
  preconditions
} from "./cases/Cases.ts"
export * from "./Conformance.ts"
export { NotCleanedUp, withCleanUp } from "./account/CleanUp.ts"
export * from "./account/ConformanceRun.ts"
export * from "./account/Observations.ts"
