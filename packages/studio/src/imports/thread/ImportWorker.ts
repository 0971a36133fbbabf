/** The file of the worker that reads files and plans their import, with services of its own on the same interface. */
import { ContactsService } from "@roster/domain"
import { FetchTransport, RosterClient } from "@roster/http-client"
import { RunLog } from "@roster/workflows"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { RpcServer } from "effect/rpc"
import { WorkerError, WorkerRunner } from "effect/workers"
import { ImportCalls } from "./ImportCalls.ts"
import { type Connect, layer } from "./ImportWork.ts"

const connect: Connect = ({ connection, target }) =>
  // A plan asks it for the target alone: the page applies the plan, and has the log of that.
  Layer.unwrap(Effect.map(ContactsService, ({ storeId }) => RunLog.layerMemory({ target, storeId }))).pipe(
    Layer.provideMerge(
      RosterClient.layer({ baseUrl: connection?.baseUrl ?? "", apiKey: Redacted.make(connection?.key ?? "") })
    ),
    Layer.provide(FetchTransport.layer())
  )

const runner = Layer.succeed(WorkerRunner.WorkerRunnerPlatform, {
  start: <O, I>() =>
    Effect.sync((): WorkerRunner.WorkerRunner<O, I> => {
      const sendUnsafe = (_: number, message: O, transfers: ReadonlyArray<unknown> = []): void => {
        // The runner lists what can be transferred.
        globalThis.postMessage([1, message], { transfer: [...transfers] as Array<Transferable> })
      }
      return {
        sendUnsafe,
        send: (port, message, transfers) => Effect.sync(() => sendUnsafe(port, message, transfers)),
        run: <A, E, R>(handler: (port: number, message: I) => Effect.Effect<A, E, R> | void) =>
          Effect.scopedWith(
            Effect.fnUntraced(function* (scope): Effect.fn.Return<void, WorkerError.WorkerError, R> {
              const track = Fiber.runIn(scope)
              const runFork = Effect.runForkWith(yield* Effect.context<R>())
              const failed = yield* Deferred.make<never, WorkerError.WorkerError>()
              globalThis.addEventListener("message", ({ data }: MessageEvent<WorkerRunner.PlatformMessage<I>>) => {
                if (data[0] !== 0) return
                const handled = handler(0, data[1])
                if (Effect.isEffect(handled)) track(runFork(handled))
              })
              globalThis.addEventListener("messageerror", (cause) => {
                // oxlint-disable-next-line page/texts -- The page says in words of its own that the thread has ended.
                const reason = new WorkerError.WorkerReceiveError({ message: "a message cannot be read", cause })
                Deferred.doneUnsafe(failed, new WorkerError.WorkerError({ reason }))
              })
              globalThis.postMessage([0], {})
              return yield* Deferred.await(failed)
            })
          )
      }
    })
})

const program = Effect.gen(function* () {
  const protocol = yield* RpcServer.makeProtocolWorkerRunner
  const server = RpcServer.make(ImportCalls, { disableTracing: true, disableFatalDefects: true })
  return yield* Effect.provideService(server, RpcServer.Protocol, protocol)
}).pipe(Effect.scoped, Effect.provide(Layer.merge(layer(connect), runner)))

Effect.runFork(program)
