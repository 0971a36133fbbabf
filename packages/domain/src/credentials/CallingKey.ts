/** What the service tells a key of itself. */
import { Schema } from "effect"
import { ReportedAccessLevel } from "../values/AccessLevel.ts"
import { WireDate } from "../values/WireDate.ts"
import { wireRecord } from "../values/WireRecord.ts"

/** The key that calls, without its secret. */
export class CallingKey extends Schema.Opaque<CallingKey>()(
  wireRecord(
    {
      /** Its name; `null` for the owner of the store, who needs no key. */
      name: Schema.NullOr(Schema.String),
      /** The account: empty for the main one, the canonical e-mail address for a subaccount. */
      account: Schema.String,
      /** What it may do, by access level; of the owner all. */
      accessLevels: Schema.Array(ReportedAccessLevel),
      /** When it ends, in UTC; `null` if never. */
      expires: Schema.NullOr(WireDate)
    },
    { accessLevels: "AccessLevel" }
  ).annotate({ identifier: "CallingKey" })
) {}
