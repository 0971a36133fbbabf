/** The shape of a record, read from the AST of its schema: the names of each field, what it holds and if it may be null. */
import { Schema, SchemaAST } from "effect"
import { EmailAddress } from "../packages/domain/src/contacts/EmailAddress.ts"

/** What a field holds. */
export type Content =
  | { readonly kind: "text" | "address" | "count" | "date" }
  | { readonly kind: "texts"; readonly hasUniqueNames: boolean }
  | { readonly kind: "open" | "closed"; readonly values: ReadonlyArray<string> }
  | { readonly kind: "group"; readonly shape: RecordShape }

/** A field of a record. */
export type RecordField = Content & {
  /** The name in code. */
  readonly name: string
  /** The name on the wire. */
  readonly wire: string
  readonly isOptional: boolean
  /** Whether null is a value in code. */
  readonly isNullable: boolean
  /** Whether null on the wire means that the field is not given. */
  readonly dropsNull: boolean
}

/** The fields of a record in order. */
export interface RecordShape {
  /** Whether a record in code may have no other fields. */
  readonly isClosed: boolean
  readonly fields: ReadonlyArray<RecordField>
}

/** The members of a union and of the unions in it, or the only one. */
const membersOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(membersOf) : [ast]

const isAbsent = (ast: SchemaAST.AST): boolean => SchemaAST.isNull(ast) || SchemaAST.isUndefined(ast)

const givenIn = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => membersOf(ast).filter((one) => !isAbsent(one))

/** The record in code that a closed one checks. */
const openOf = (ast: SchemaAST.AST): SchemaAST.AST =>
  SchemaAST.isDeclaration(ast) ? (ast.typeParameters[0] ?? ast) : ast

/** Whether a value is checked as the values of a schema are: a check that the codec does not know is not left out. */
const isCheckedAs = ({ checks }: SchemaAST.AST, { ast }: Schema.Constraint): boolean =>
  checks?.length === ast.checks?.length && (checks ?? []).every((check, index) => check === ast.checks?.[index])

const contentOf = (name: string, type: SchemaAST.AST, wire: SchemaAST.AST): Content => {
  const members = givenIn(type)
  const values = members.flatMap((ast) =>
    SchemaAST.isLiteral(ast) && typeof ast.literal === "string" ? [ast.literal] : []
  )
  const [value, ...more] = members.slice(values.length)
  const [sent] = givenIn(wire)
  if (value === undefined && values.length > 0) return { kind: "closed", values }
  if (value !== undefined && sent !== undefined && more.length === 0) {
    if (SchemaAST.isString(value)) {
      if (isCheckedAs(value, Schema.String)) return values.length > 0 ? { kind: "open", values } : { kind: "text" }
      if (isCheckedAs(value, EmailAddress)) return { kind: "address" }
    }
    if (SchemaAST.isNumber(value) && isCheckedAs(value, Schema.Int)) return { kind: "count" }
    const record = openOf(value)
    if (record === value && SchemaAST.isDeclaration(value) && SchemaAST.isString(sent)) return { kind: "date" }
    if (SchemaAST.isObjects(record) && SchemaAST.isObjects(sent)) {
      return record.indexSignatures.length > 0
        ? { kind: "texts", hasUniqueNames: record.checks !== undefined }
        : { kind: "group", shape: shapeOf(value, sent) }
    }
  }
  throw new Error(`Teach scripts/RecordShape.ts and scripts/printContactCodec.ts what the field ${name} holds.`)
}

const shapeOf = (type: SchemaAST.AST, wire: SchemaAST.AST): RecordShape => {
  const record = openOf(type)
  if (!SchemaAST.isObjects(record) || !SchemaAST.isObjects(wire)) throw new Error("A record is an object.")
  const given = record.propertySignatures.filter(({ type }) => !givenIn(type).every(SchemaAST.isNever))
  const fields = given.map((property, index): RecordField => {
    // A record on the wire names its fields in the order of those in code, and those that it refuses at its end.
    const sent = wire.propertySignatures[index]
    const name = String(property.name)
    if (sent === undefined) throw new Error(`The field ${name} has no name on the wire.`)
    const isNullable = membersOf(property.type).some(SchemaAST.isNull)
    return {
      ...contentOf(name, property.type, sent.type),
      name,
      wire: String(sent.name),
      isOptional: SchemaAST.isOptional(property.type),
      isNullable,
      dropsNull: !isNullable && membersOf(sent.type).some(SchemaAST.isNull)
    }
  })
  return { isClosed: SchemaAST.isDeclaration(type), fields }
}

/** Reads the shape of a record from its schema. */
export const recordShape = ({ ast }: Schema.Constraint): RecordShape =>
  shapeOf(SchemaAST.toType(ast), SchemaAST.toEncoded(ast))
