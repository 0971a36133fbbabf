import { Wire } from "../wire/Wire.ts"
import { accessMatrix } from "./Matrix.ts"

accessMatrix("SQLite", Wire.layer)
