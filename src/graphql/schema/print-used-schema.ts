/**
 * Prints the part of a schema that documents use, as SDL: valid by itself, and the documents are valid against it.
 *
 * Of output types the selected fields with the given arguments. Of input types the members that a document writes, or
 * all where a variable stands for the object: a client may then send any of them.
 */
import {
  type ASTVisitor,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSpecifiedScalarType,
  Kind,
  parse,
  print,
  printType,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { invariant } from '../../shared/invariant.ts';

/** @param documents Valid against the schema. @returns The types in order of their names. */
export function printUsedSchema(schema: GraphQLSchema, documents: readonly DocumentNode[]): string {
  const used = new UsedTypes(schema);
  for (const document of documents) used.add(document);
  const names = [...used.close().keys()].sort();
  const types = names.map((name) => schema.getType(name)!).filter((type) => !isSpecifiedScalarType(type));
  return `${types.map((type) => used.print(type)).join('\n\n')}\n`;
}

type Member = GraphQLField<unknown, unknown> | GraphQLInputField;
/** A type, if it is known. */
type Place = GraphQLType | null | undefined;

class UsedTypes {
  readonly #schema: GraphQLSchema;
  /** Of each type its fields or members with their arguments; empty for leaf types. */
  readonly #types = new Map<string, Map<string, Set<string>>>();
  readonly #whole = new Set<string>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    // No schema is without queries.
    this.#addType(schema.getQueryType());
  }

  add(document: DocumentNode): void {
    const info = new TypeInfo(this.#schema);
    const places: ASTVisitor = {
      Field: () => void this.#addField(info.getParentType(), info.getFieldDef()?.name),
      SelectionSet: () => void this.#addType(info.getParentType()),
      Argument: ({ name }) => {
        const field = info.getFieldDef();
        if (info.getDirective() || !field) return;
        this.#addField(info.getParentType(), field.name)?.add(name.value);
        this.#addType(info.getInputType());
      },
      ObjectField: ({ name }) => {
        const outer = getNamedType(info.getParentInputType());
        // An object of JSON has no members of the schema.
        if (isInputObjectType(outer)) this.#addField(outer, name.value);
      },
      ObjectValue: () => void this.#addType(info.getInputType()),
      VariableDefinition: ({ type }) => void this.#addWhole(typeFromAST(this.#schema, type)),
    };
    visit(document, visitWithTypeInfo(info, places));
  }

  /** Completes it: interfaces as their types have them, and no type without fields. */
  close(): ReadonlyMap<string, unknown> {
    for (let size = -1; size !== this.#size(); ) {
      size = this.#size();
      for (const [name, fields] of [...this.#types]) this.#complete(name, fields);
    }
    return this.#types;
  }

  #size(): number {
    return [...this.#types.values()].reduce((sum, fields) => sum + 1 + fields.size, 0);
  }

  #complete(name: string, fields: ReadonlyMap<string, ReadonlySet<string>>): void {
    const type = this.#schema.getType(name)!;
    if (isObjectType(type)) {
      for (const { name: shared } of type.getInterfaces()) {
        for (const [field, given] of this.#types.get(shared) ?? []) {
          const own = this.#addField(type, field);
          for (const argument of given) own?.add(argument);
        }
      }
    }
    if (fields.size > 0) return;
    const all = Object.values(membersOf(type));
    const first = all.find(({ type: of }) => isLeafType(getNamedType(of))) ?? all[0];
    this.#addField(type, first?.name);
  }

  #addType(outer: Place): Map<string, Set<string>> | null {
    const type = getNamedType(outer);
    if (!type || type.name.startsWith('__')) return null;
    const known = this.#types.get(type.name);
    if (known !== undefined) return known;
    const fields = new Map<string, Set<string>>();
    this.#types.set(type.name, fields);
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        if (isRequiredInputField(field)) this.#addField(type, field.name);
      }
    }
    return fields;
  }

  /** @returns Its arguments; null for what is in every schema, such as `__typename`. */
  #addField(outer: Place, name: string | undefined): Set<string> | null {
    const type = getNamedType(outer);
    const fields = this.#addType(type);
    if (!type || fields === null || name === undefined || name.startsWith('__')) return null;
    const known = fields.get(name);
    if (known !== undefined) return known;
    const field = membersOf(type)[name];
    invariant(field !== undefined, `${type.name} has the field ${name}`);
    const required = 'args' in field ? field.args.filter(isRequiredArgument) : [];
    const given = new Set(required.map((argument) => argument.name));
    fields.set(name, given);
    for (const { type: of } of [field, ...required]) this.#addType(of);
    return given;
  }

  #addWhole(outer: Place): void {
    const open = [outer];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const type = getNamedType(next);
      this.#addType(type);
      if (!isInputObjectType(type) || this.#whole.has(type.name)) continue;
      this.#whole.add(type.name);
      for (const field of Object.values(type.getFields())) {
        this.#addField(type, field.name);
        open.push(field.type);
      }
    }
  }

  print(type: GraphQLNamedType): string {
    const [definition] = parse(printType(type)).definitions;
    const fields = this.#types.get(type.name)!;
    return print(this.#reduce(definition!, fields));
  }

  #reduce(definition: DefinitionNode, used: ReadonlyMap<string, ReadonlySet<string>>): DefinitionNode {
    switch (definition.kind) {
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION: {
        const { interfaces = [], fields = [] } = definition;
        const reduced = fields
          .filter(({ name }) => used.has(name.value))
          .map((field) => ({
            ...field,
            arguments: field.arguments?.filter(({ name }) => used.get(field.name.value)?.has(name.value)) ?? [],
          }));
        const kept = interfaces.filter(({ name }) => this.#types.has(name.value));
        return { ...definition, interfaces: kept, fields: reduced };
      }
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        return { ...definition, fields: definition.fields?.filter(({ name }) => used.has(name.value)) ?? [] };
      default:
        return definition;
    }
  }
}

function membersOf(type: GraphQLNamedType): Readonly<Record<string, Member>> {
  return isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? type.getFields() : {};
}
