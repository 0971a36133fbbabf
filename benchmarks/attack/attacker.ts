/** Carries out one attack for some seconds. What it sends is made before it says that it is ready. */
import { setPriority } from "node:os"
import { setTimeout } from "node:timers/promises"
import { argument } from "../src/Trial.ts"
import { attacks } from "./attacks.ts"
import { makeTarget } from "./Target.ts"

/** An attacker has machines of its own: here it takes only the time that nobody else needs. */
setPriority(19)

const name = argument("name")
const milliseconds = Number(argument("seconds")) * 1000
const attack = attacks.find((one) => one.name === name)
if (attack === undefined) throw new Error(`there is no attack ${name}`)

let end = Number.POSITIVE_INFINITY
const target = makeTarget(new URL(argument("url")), argument("key"), () => performance.now() >= end)
const run = attack.prepare()
process.stdout.write("ready\n")
// Nothing goes on without the process that started it.
process.stdin.on("end", () => process.exit(1))
await new Promise((resolve) => process.stdin.once("data", resolve))
end = performance.now() + milliseconds
// What is under way when the time is over is not waited for without end.
await Promise.race([run(target), setTimeout(milliseconds + 10_000)])
process.stdout.write(`${JSON.stringify(Object.fromEntries(target.statuses))}\n`)
process.exit(0)
