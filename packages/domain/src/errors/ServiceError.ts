/**
 * `ServiceError` and its reasons: what no caller can foresee, whatever the operation. A reason says whether a retry
 * may help.
 */
import { Duration, Schema } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import { TaggedError } from "./TaggedError.ts"
import { runRefusals } from "./RunRefusals.ts"

/** The key is missing, unknown or expired. */
export class Unauthorized extends TaggedError<Unauthorized>()("Unauthorized", {}) {
  override get message(): string {
    return "The service does not accept the API key: it is missing, mistyped, deleted or expired."
  }
}

/** The key lacks the access level of the operation, or is used from an address outside its ranges. */
export class AccessDenied extends TaggedError<AccessDenied>()("AccessDenied", {
  /** The access level that the operation needs. */
  required: ReportedAccessLevel
}) {
  override get message(): string {
    return (
      `The API key may not do this. It needs the access level ${this.required}, and to be used from an address ` +
      "that its ranges allow."
    )
  }
}

/** A credential would be valid for longer, or from more addresses, than the API key that creates or changes it. */
export class ExceedsGrantor extends TaggedError<ExceedsGrantor>()("ExceedsGrantor", {
  /** The field that goes too far. */
  field: Schema.Literals(["expires", "ipRanges"]),
  /** The limit of the key itself: a date and time, or ranges with commas between them. */
  limit: Schema.String
}) {
  override get message(): string {
    return this.field === "expires"
      ? `An API key cannot create credentials that outlive it: expires must be ${this.limit} or earlier. Give ` +
          "such a date, or use a key that lasts longer."
      : "An API key cannot allow addresses outside its own ranges: ipRanges must lie within " +
          `${this.limit}. Give such ranges, or use a key that has wider ones.`
  }
}

/** The service asks the client to slow down, or the account holds as much as it may. */
export class RateLimited extends TaggedError<RateLimited>()("RateLimited", {
  /** What the account has too much of and what to do about it, in sentences. */
  detail: Schema.optionalKey(Schema.String),
  /** How long the service asked to wait, in seconds. */
  retryAfter: Schema.optionalKey(Schema.Finite)
}) {
  override get message(): string {
    const when = this.retryAfter === undefined ? "later" : `in ${this.retryAfter} s`
    return this.detail === undefined
      ? `The service asks to slow down. Try again ${when}.`
      : `This account is at its limit: ${this.detail} Try again ${when}.`
  }
}

/** The service could not be reached, or cannot answer now. */
export class Unavailable extends TaggedError<Unavailable>()("Unavailable", {
  /** The status, if there was an answer. */
  status: Schema.optionalKey(Schema.Int),
  /** What went wrong, in words. */
  detail: Schema.String,
  /** How long the service asked to wait, in seconds. */
  retryAfter: Schema.optionalKey(Schema.Finite),
  /** Whether the same connection fails again, as with a certificate that is not trusted. */
  isPermanent: Schema.optionalKey(Schema.Literal(true))
}) {
  override get message(): string {
    const when = this.retryAfter === undefined ? "later" : `in ${this.retryAfter} s`
    return `The service is not available: ${this.detail}.${this.isPermanent === true ? "" : ` Try again ${when}.`}`
  }
}

/** The answer did not arrive in time. */
export class TimedOut extends TaggedError<TimedOut>()("TimedOut", {
  /** The time limit that was set, in seconds. */
  after: Schema.Finite,
  /** The number of bytes that had arrived, if known. */
  receivedBytes: Schema.optionalKey(Schema.Int)
}) {
  override get message(): string {
    return `No whole answer came within ${this.after} s. Try again, or allow more time.`
  }
}

/** A write got no answer: the service may have carried it out, and repeating it could do it twice. */
export class OutcomeUnknown extends TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  /** How to find out what happened, and what to do then. */
  recovery: Schema.String,
  /** What went wrong, in words. */
  detail: Schema.String,
  /** The status, if an answer began to arrive. */
  status: Schema.optionalKey(Schema.Int)
}) {
  override get message(): string {
    const detail = this.detail.replace(/\.$/, "")
    return `The service may have carried out the request: ${detail}. ${this.recovery}`
  }
}

/** The answer does not match the interface. */
export class InvalidResponse extends TaggedError<InvalidResponse>()("InvalidResponse", {
  /** The HTTP status of the answer. */
  status: Schema.Int,
  /** What went wrong, in words. */
  detail: Schema.String
}) {
  override get message(): string {
    return (
      `The service answered with status ${this.status} in a form that the interface does not have: ` +
      `${this.detail}. Is the base address right?`
    )
  }
}

/** The answer is not in the form of the service, but for example a page of a proxy, an ingress or a login. */
export class UnexpectedContentType extends TaggedError<UnexpectedContentType>()("UnexpectedContentType", {
  /** The HTTP status of the answer. */
  status: Schema.Int,
  /** The media type of the answer; `empty` if it has no body. */
  contentType: Schema.String,
  /** Its beginning, without control characters. */
  snippet: Schema.String
}) {
  override get message(): string {
    const said = this.snippet === "" ? "" : ` It begins: ${this.snippet}`
    return (
      `The answer (status ${this.status}) is ${this.contentType}, and not in the form of the service: something ` +
      `between here and the service may have answered in its place.${said}`
    )
  }
}

/** The service redirects the client, which does not follow, as that would send the key along. */
export class UnexpectedRedirect extends TaggedError<UnexpectedRedirect>()("UnexpectedRedirect", {
  /** The HTTP status of the answer. */
  status: Schema.Int,
  /** The scheme and host of the target; empty if it is not an address. */
  targetOrigin: Schema.String
}) {
  override get message(): string {
    const target = this.targetOrigin === "" ? "no usable address" : this.targetOrigin
    return (
      `The service redirects to ${target} (status ${this.status}), and Roster follows no redirects. Is the ` +
      "base address right?"
    )
  }
}

/** The answer is larger than the client accepts. */
export class ResponseTooLarge extends TaggedError<ResponseTooLarge>()("ResponseTooLarge", {
  /** The size that the client accepts, in bytes. */
  maximumBytes: Schema.Int
}) {
  override get message(): string {
    return `The answer is larger than ${this.maximumBytes} bytes. Request less at once, or allow more.`
  }
}

/** The service refused the request for a reason without a tag; `detail` is its text. */
export class Rejected extends TaggedError<Rejected>()("Rejected", {
  /** The HTTP status of the answer. */
  status: Schema.Int,
  /** What went wrong, in words. */
  detail: Schema.String
}) {
  override get message(): string {
    return `The service refused the request (status ${this.status}): ${this.detail}`
  }
}

/** The store of an embedded service failed: a full disk, a lock held too long, a damaged file. */
export class StoreFailure extends TaggedError<StoreFailure>()("StoreFailure", {
  /** What went wrong, in words. */
  detail: Schema.String
}) {
  override get message(): string {
    return `The store failed: ${this.detail}. Nothing of this request was kept.`
  }
}

/** A call writes in a run that does not take it. Nothing of the call was done. */
export class RunRefused extends TaggedError<RunRefused>()("RunRefused", {
  /** The id of the run. */
  run: Schema.String,
  /** Why the run takes no writes of this call. */
  why: Schema.Literals(["Unknown", "Ended", "OfAnotherKey", "TooLarge"])
}) {
  override get message(): string {
    return `The run ${this.run} takes no writes: ${runRefusals[this.why]}.`
  }
}

/** The reasons of a `ServiceError`. */
export const ServiceErrorReason = Schema.Union([
  Unauthorized,
  AccessDenied,
  ExceedsGrantor,
  RateLimited,
  Unavailable,
  TimedOut,
  OutcomeUnknown,
  InvalidResponse,
  UnexpectedContentType,
  UnexpectedRedirect,
  ResponseTooLarge,
  Rejected,
  RunRefused,
  StoreFailure
])
export type ServiceErrorReason = typeof ServiceErrorReason.Type

/** An unexpected error: the operation, the reason and what identifies the answer, without any request or key. */
export class ServiceError extends TaggedError<ServiceError>()("ServiceError", {
  /** The operation identifier of the interface, such as `contactsByEmailGet`. */
  operation: Schema.String,
  /** Why the operation failed; `Effect.catchReason` selects by its tag. */
  reason: ServiceErrorReason,
  /** The id that the service gave to the request, for its support. */
  requestId: Schema.optionalKey(Schema.String),
  /** The headers of the answer that are known to hold no secret, by their names in lower case. */
  responseHeaders: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** Whether the service carries out the call once for its idempotency key, however often it is made. */
  isKeyHonoured: Schema.optionalKey(Schema.Literal(true))
}) {
  override get message(): string {
    return this.reason.message
  }

  /** How long the service asked to wait, whatever the reason; `undefined` if it did not. */
  get retryAfter(): Duration.Duration | undefined {
    const seconds = "retryAfter" in this.reason ? this.reason.retryAfter : undefined
    return seconds === undefined ? undefined : Duration.seconds(seconds)
  }

  /** Whether the same call may succeed later and is safe to repeat. */
  get isRetryable(): boolean {
    const isNotDone = ["RateLimited", "Unavailable", "TimedOut", "StoreFailure"].includes(this.reason._tag)
    return isNotDone || (this.mayHaveHappened && this.isKeyHonoured === true)
  }

  /** Whether the service may answer the same key again later: a refused key stays refused. */
  get isTransient(): boolean {
    return this.reason._tag !== "Unauthorized" && this.reason._tag !== "AccessDenied"
  }

  /** Whether a write that failed with this error may have been carried out, since its answer was lost or unreadable. */
  get mayHaveHappened(): boolean {
    const lost = ["OutcomeUnknown", "InvalidResponse", "UnexpectedContentType", "ResponseTooLarge"]
    return lost.includes(this.reason._tag)
  }
}
