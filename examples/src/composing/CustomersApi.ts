import { ContactNotFound, ContactsService, InvalidInput, ServiceError } from "@roster/domain"
import { Effect, Schema } from "effect"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"

const Customer = Schema.Struct({ email: Schema.String, firstName: Schema.optionalKey(Schema.String) })

/** An interface of your own. Its errors are Roster's, each with the status that you give it. */
export const CustomersApi = HttpApi.make("customers-api").add(
  HttpApiGroup.make("customers").add(
    HttpApiEndpoint.get("get", "/customers/:email", {
      params: { email: Schema.String },
      success: Customer,
      error: [
        ContactNotFound.pipe(HttpApiSchema.status(404)),
        InvalidInput.pipe(HttpApiSchema.status(400)),
        ServiceError.pipe(HttpApiSchema.status(503))
      ]
    })
  )
)

/** The handlers have nothing to translate: what the service fails with is what the endpoint declares. */
export const customers = HttpApiBuilder.group(
  CustomersApi,
  "customers",
  Effect.fnUntraced(function* (handlers) {
    const contacts = yield* ContactsService
    return handlers.handleAll({ get: ({ params }) => contacts.get(params.email) })
  })
)
