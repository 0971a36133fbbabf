/** The thread that reads files, as a service of the page: a worker of the browser that starts when it is first needed. */
import { Context, Deferred, Effect, Layer, Scope } from "effect"
import { RpcClient, type RpcClientError, type RpcGroup } from "effect/rpc"
import { Worker, WorkerError } from "effect/workers"
import { ImportCalls } from "./ImportCalls.ts"

/** The thread that reads files. A test puts its work into the page. */
export class ImportThread extends Context.Service<
  ImportThread,
  RpcClient.RpcClient<RpcGroup.Rpcs<typeof ImportCalls>, RpcClientError.RpcClientError>
>()("@roster/studio/ImportThread") {}

/** Beside this file; its name comes with the bundle. */
declare const IMPORT_WORKER: string

const received = (cause: Event) =>
  // oxlint-disable-next-line page/texts -- The page says in words of its own that the thread has ended.
  new WorkerError.WorkerError({ reason: new WorkerError.WorkerReceiveError({ message: "the worker failed", cause }) })

const platform = Worker.makePlatform<globalThis.Worker>()({
  setup: ({ scope, worker }) =>
    Effect.as(
      Scope.addFinalizer(
        scope,
        Effect.sync(() => worker.terminate())
      ),
      worker
    ),
  listen: ({ deferred, emit, port }) =>
    Effect.sync(() => {
      const fail = (event: Event): void => {
        Deferred.doneUnsafe(deferred, received(event))
      }
      port.addEventListener("message", ({ data }) => emit(data))
      port.addEventListener("error", fail)
      port.addEventListener("messageerror", fail)
    })
})

/** A worker of the browser. */
export const layer: Layer.Layer<ImportThread, WorkerError.WorkerError> = Layer.effect(
  ImportThread,
  Effect.gen(function* () {
    const protocol = yield* RpcClient.makeProtocolWorker({ size: 1, concurrency: 100 })
    return yield* RpcClient.make(ImportCalls, { disableTracing: true }).pipe(
      Effect.provideService(RpcClient.Protocol, protocol)
    )
  })
).pipe(
  Layer.provide(Layer.succeed(Worker.WorkerPlatform, platform)),
  Layer.provide(
    Worker.layerSpawner(() => new globalThis.Worker(new URL(IMPORT_WORKER, import.meta.url), { type: "module" }))
  )
)
