/** The services of Node. Standard input is opened lazily, which saves a short command 1 to 5 % of its CPU time. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Context, Effect, Layer, Stdio, Terminal } from "effect"
import { isatty } from "node:tty"

const stdio = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (node) => Stdio.make({ ...node, stdinIsTerminal: Effect.sync(() => isatty(0)) }))
).pipe(Layer.provide(NodeStdio.layer))

const terminal = Layer.effect(
  Terminal.Terminal,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const node = yield* Effect.cached(
      Effect.map(Layer.buildWithScope(NodeTerminal.layer, scope), Context.get(Terminal.Terminal))
    )
    return Terminal.make({
      columns: Effect.flatMap(node, ({ columns }) => columns),
      rows: Effect.flatMap(node, ({ rows }) => rows),
      size: Effect.flatMap(node, ({ size }) => size),
      readInput: Effect.flatMap(node, ({ readInput }) => readInput),
      readLine: Effect.flatMap(node, ({ readLine }) => readLine),
      display: (text) => Effect.flatMap(node, ({ display }) => display(text))
    })
  })
)

export const layer = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, stdio, terminal))
)
