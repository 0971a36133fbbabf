export {
  type CaseFailed,
  type ConformanceCase,
  describeNeed,
  type Need,
  type Precondition,
  preconditions
} from "./Cases.ts"
export * from "./Conformance.ts"
