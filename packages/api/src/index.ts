/** The HTTP interface: its endpoints, their policies, and the errors on the wire. */
export * from "./AccountApi.ts"
export * from "./ApiKeyAuth.ts"
export * from "./ContactsApi.ts"
export * from "./EmailsApi.ts"
export * from "./ErrorTexts.ts"
export * from "./ListsApi.ts"
export * from "./Operation.ts"
export { type Announcement, levelOf, OperationPolicy, type Policy, type RetryRow } from "./OperationPolicy.ts"
export {
  accountHonoured,
  addModeHonoured,
  announcements,
  announcesItself,
  callHeader,
  callHeaders,
  changesHonoured,
  idempotencyHonoured,
  idempotencyKeyHeader,
  listsHonoured,
  readsHonoured,
  resubscribeHeader,
  resubscribeHonoured,
  runHeader,
  runsHonoured,
  searchHonoured,
  sortHonoured,
  storeHeader,
  versionHeader
} from "./Parameters.ts"
export * from "./RosterApi.ts"
export * from "./RunsApi.ts"
export * from "./SecurityApi.ts"
export * from "./WireError.ts"
