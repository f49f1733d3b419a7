/**
 * Arguments for the planner: one interface for values written in the document and values of variables, whole or in
 * part. Facts about a variable are recorded in the shape; the rest becomes slots.
 *
 * `absent` and `null` stay distinct.
 */
import {
  coerceInputLiteral,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ObjectValueNode,
  print,
  type ValueNode,
} from 'graphql';
import { badInput, PublicError } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import { hasVariables, jsonTemplate } from '../../schema/types/json-text.ts';
import { scalarTypes } from '../../schema/types/scalars.ts';
import { decodeOnce, type Elements } from '../cursor/read-cursor.ts';
import { scalarText } from './composite-text.ts';
import { inOrder, inputFieldsOf } from './input-fields.ts';
import { answerFor, type LengthLimit, type Shape, type ShapeQuestion, type ValueQuestion } from './shape.ts';
import type { Path, RowKey, Slot, TextForm } from './slot.ts';
import { printPath, textProblem } from './storable-text.ts';
import { type Run, readRuns, type UpdateListKeys } from './update-list.ts';

/** A value that makes the whole request invalid, not only its field. */
export class RequestRefusal extends PublicError {}

/** The error for a value, with the value's place. */
export function refuseInput(message: string, input: Input): PublicError {
  return badInput(message, { extensions: { input: input.place() } });
}

/** Whether a value is absent, an explicit null, or given. */
type InputState = 'absent' | 'null' | 'value';

/** What reading a variable needs besides its node. */
export interface InputScope {
  readonly shape: Shape;
  /** By place in the document, or by path in the variables. A value used many times is one parameter. */
  readonly slots: Map<ValueNode | string, Slot[]>;
  /** Key of a variable's value, coerced for this place of the document; null for a value in the document. */
  variableKey(node: ValueNode): string | null;
  /** Counts what is read of lists and objects, even if it says nothing: fragments and variables repeat it. */
  spend(values: number): void;
}

/** An input value that may be absent. */
export class Input {
  readonly type: GraphQLInputType;
  readonly #scope: InputScope;
  readonly #node: ValueNode | null;
  readonly #path: Path | null;
  /** Its place, for messages: `filter.dueOn.eq`, `objects[1].title`. */
  readonly #name: string;

  private constructor(scope: InputScope, name: string, type: GraphQLInputType, source: ValueNode | Path | null) {
    this.#scope = scope;
    this.#name = name;
    this.type = type;
    const isPath = Array.isArray(source);
    const node = source === null || isPath ? null : (source as ValueNode);
    const key = node === null ? null : scope.variableKey(node);
    this.#node = key === null ? node : null;
    this.#path = isPath ? (source as Path) : key === null ? null : [key];
  }

  /** The value of a field's argument. */
  static argument(scope: InputScope, field: FieldNode, argument: GraphQLArgument): Input {
    const given = field.arguments?.find((node) => node.name.value === argument.name);
    return new Input(scope, argument.name, argument.type, given?.value ?? null);
  }

  /** The state of the value. A missing or null value in a non-null place is a request error. */
  state(): InputState {
    const state = this.#state();
    if (state !== 'value' && isNonNullType(this.type)) {
      const name = this.#path ? `Variable "$${String(this.#path[0]).split('#')[0]}"` : 'The value';
      throw new RequestRefusal('BAD_USER_INPUT', `${name} must not be null where "${String(this.type)}" is expected.`);
    }
    return state;
  }

  /** Refuses a missing or null value where the type forbids it. @throws RequestRefusal */
  requireValue(): void {
    // Reading the state checks it against the type.
    this.state();
  }

  #state(): InputState {
    if (this.#path) return this.#scope.shape.ask({ kind: 'state', path: this.#path }) as InputState;
    if (this.#node === null) return 'absent';
    return this.#node.kind === Kind.NULL ? 'null' : 'value';
  }

  /** The given fields of an input object, in the order in which they count, without absent variables. */
  fields(): readonly { readonly field: GraphQLInputField; readonly input: Input }[] {
    return this.#placed().filter(({ input }) => input.#state() !== 'absent');
  }

  /** The fields that the document gives by an absent variable. */
  absentFields(): readonly GraphQLInputField[] {
    return this.#placed().flatMap(({ field, input }) => (input.#state() === 'absent' ? [field] : []));
  }

  #placed(): readonly { readonly field: GraphQLInputField; readonly input: Input }[] {
    const type = getNullableType(this.type);
    invariant(isInputObjectType(type), 'not an input object');
    const given = this.#path ? this.#pathFields(this.#path) : nodeFields(this.#node as ObjectValueNode);
    this.#scope.spend(given.size);
    const { byName } = inputFieldsOf(type);
    const fields = [...given].flatMap(([name, source]) => {
      const placed = byName.get(name);
      return placed === undefined ? [] : [{ ...placed, source }];
    });
    return inOrder(type, fields).map(({ field, source }) => {
      return { field, input: new Input(this.#scope, `${this.#name}.${field.name}`, field.type, source) };
    });
  }

  #pathFields(path: Path): ReadonlyMap<string, Path> {
    const keys = this.#scope.shape.ask({ kind: 'keys', path });
    return new Map(keys === '' ? [] : keys.split(',').map((key) => [key, [...path, key]]));
  }

  /** The elements of a list of input objects, made lazily; a single value is a list of one. */
  *items(): Generator<Input, void> {
    const elementType = this.#elementType();
    if (this.#path) {
      const path = this.#path;
      const length = this.#scope.shape.ask({ kind: 'length', path });
      this.#scope.spend(length === 'one' ? 1 : Number(length));
      if (length === 'one') yield new Input(this.#scope, this.#name, elementType, path);
      else
        for (let index = 0; index < Number(length); index += 1)
          yield new Input(this.#scope, this.#name, elementType, [...path, index]);
      return;
    }
    const nodes = this.#listNodes();
    this.#scope.spend(nodes.length);
    for (const [index, node] of nodes.entries())
      yield new Input(this.#scope, `${this.#name}[${index}]`, elementType, node);
  }

  /** The runs of a list of updates (update-list.ts); null if there are too many. */
  runs(shape: UpdateListKeys): readonly Run[] | null {
    return readRuns(this.ask({ kind: 'update_runs', shape }));
  }

  /** An element of a list of input objects that has no single value for a list. */
  item(index: number): Input {
    invariant(this.#path, 'the list comes from the variables');
    return new Input(this.#scope, this.#name, this.#elementType(), [...this.#path, index]);
  }

  /** A value that selects SQL: an order direction, a null test. */
  choice(): string {
    return this.ask({ kind: 'choice' });
  }

  /** The slot of a nullable scalar or enum. */
  slot(): Slot {
    const path = this.#path;
    if (path) return this.#sharedSlot(`scalar ${path.join()}`, () => ({ kind: 'scalar', path }));
    return this.#sharedSlot(this.#node, () => this.#constantSlot());
  }

  /** The slot of an element of a cursor or node id. */
  elementSlot(index: number): Slot {
    const path = this.#path;
    if (path) return this.#sharedSlot(`element ${index} ${path.join()}`, () => ({ kind: 'element', path, index }));
    return this.#sharedSlot(this.#node, () => ({ kind: 'constant', value: this.#elements()?.[index] ?? null }), index);
  }

  #sharedSlot(place: ValueNode | string | null, make: () => Slot, index = 0): Slot {
    if (place === null) return make();
    const { slots } = this.#scope;
    const known = slots.get(place) ?? [];
    slots.set(place, known);
    known[index] ??= make();
    return known[index];
  }

  #constantSlot(): Slot {
    if (this.#node !== null && getNullableType(this.type) === scalarTypes.JSONValue && hasVariables(this.#node)) {
      const template = jsonTemplate(this.#node, (node) => this.#scope.variableKey(node)!);
      invariant(template, 'validation has refused what is no JSON');
      return { kind: 'json', template };
    }
    const value = this.#node?.kind === Kind.NULL ? null : scalarText(this.#constant());
    const problem = value === null ? null : textProblem(value);
    if (problem !== null) {
      throw new PublicError(
        'BAD_USER_INPUT',
        `The value of "${this.#name}" holds ${problem}, which PostgreSQL cannot store.`,
      );
    }
    return { kind: 'constant', value, name: this.#name };
  }

  /** The slot of a variable's value in another form than a scalar or list. */
  formSlot(form: TextForm): Slot {
    const path = this.#path;
    invariant(path, 'the value comes from a variable');
    return this.#sharedSlot(`form ${path.join()}`, () => ({ kind: 'composite', path, form }));
  }

  /** The slot of a nullable list of scalars. */
  listSlot(): Slot {
    const path = this.#path;
    if (path) return this.#sharedSlot(`list ${path.join()}`, () => ({ kind: 'list', path }));
    return this.#sharedSlot(this.#node, () => this.#arraySlot());
  }

  #arraySlot(): Slot {
    if (this.#node === null || this.#node.kind === Kind.NULL) return { kind: 'constant', value: null };
    const elementType = this.#elementType();
    const items = this.#listNodes().map((node) => {
      const item = new Input(this.#scope, this.#name, elementType, node);
      return item.state() === 'value' ? item.slot() : ({ kind: 'constant', value: null } as const);
    });
    return { kind: 'array', items };
  }

  /** The value if written in the document, undefined for a variable. */
  known(): unknown {
    return this.#path ? undefined : this.#constant();
  }

  /** The path into the variables, null if written in the document. */
  path(): Path | null {
    return this.#path;
  }

  isNegative(): boolean {
    return this.ask({ kind: 'sign' }) === 'negative';
  }

  /** Whether a string, or every string of a list, is within the limit. */
  fits(maxLength: number): boolean {
    if (this.#path || !isListType(getNullableType(this.type))) return this.ask({ kind: 'fits', maxLength }) === 'ok';
    const elementType = this.#elementType();
    return this.#listNodes().every((node) => {
      const item = new Input(this.#scope, this.#name, elementType, node);
      return item.#state() !== 'value' || item.fits(maxLength);
    });
  }

  /** Whether the element of a cursor equals the value of a slot. */
  isElement(index: number, slot: Slot): boolean {
    const left = this.elementSlot(index);
    return this.#scope.shape.ask({ kind: 'same', path: [], left, right: slot }) === 'same';
  }

  /** The source of the value, for messages: `$name`, `$objects[1].title`, or `set.title` for a literal. */
  place(): string {
    return this.#path ? printPath(this.#path) : this.#name;
  }

  /** Whether anything was given, including null. */
  isGiven(): boolean {
    return this.#state() !== 'absent';
  }

  /** Describes the objects to insert in a variable, see shape.ts, `rows`. */
  describeRows(
    limits: readonly LengthLimit[],
    generated: readonly string[],
  ): {
    readonly keys: ReadonlyMap<string, 'all' | 'some'>;
    /** The key of a too long string. */
    readonly tooLong: string | null;
    readonly isEmpty: boolean;
    readonly isSparse: boolean;
  } {
    invariant(this.#path, 'the objects come from a variable');
    const answer = this.#scope.shape.ask({ kind: 'rows', path: this.#path, limits, generated });
    const tooLong = answer.startsWith('!long:') ? answer.slice(6) : null;
    const names = answer === '' || answer.startsWith('!') ? [] : answer.split(',');
    const keys = names.map((name) =>
      name.endsWith('?') ? ([name.slice(0, -1), 'some'] as const) : ([name, 'all'] as const),
    );
    return { keys: new Map(keys), tooLong, isEmpty: answer === '!empty', isSparse: answer === '!sparse' };
  }

  /** Which of the keys each of a variable's objects has, see shape.ts, `row_patterns`. */
  rowPatterns(keys: readonly RowKey[]): readonly string[] {
    invariant(this.#path, 'the objects come from a variable');
    return this.#scope.shape.ask({ kind: 'row_patterns', path: this.#path, keys }).split(',');
  }

  /** How many of a variable's objects have a related one, see shape.ts, `nested_objects`. */
  related(fieldName: string, columns: readonly string[]): string {
    invariant(this.#path, 'the objects come from a variable');
    return this.#scope.shape.ask({ kind: 'nested_objects', path: this.#path, fieldName, columns });
  }

  /** The members that a variable's objects have, each exactly one; null: some have none or several. */
  members(names: readonly string[]): readonly string[] | null {
    const answer = this.ask({ kind: 'members', names });
    return answer === '!' ? null : answer.split(',').filter((name) => name !== '');
  }

  /** Whether a variable's rows have equal values under the last key of the path, see shape.ts, `uniform_value`. */
  uniformValue(path: Path): string {
    return this.#scope.shape.ask({ kind: 'uniform_value', path });
  }

  /** Whether some of a variable's objects are among the different ones at another place. */
  hasKnownRows(other: Path): boolean {
    return this.ask({ kind: 'known_rows', other }) === 'some';
  }

  /** Whether both are values of variables, and equal. */
  hasSameValue(other: Input): boolean {
    const [path, otherPath] = [this.#path, other.#path];
    if (path === null || otherPath === null) return false;
    return this.#scope.shape.ask({ kind: 'equal', path, other: otherPath }) === 'same';
  }

  /** Its text, or its path into the variables: equal ones have equal values. */
  source(): string {
    return this.#path?.join() ?? (this.#node === null ? '' : print(this.#node));
  }

  /** A value below the objects of a variable: those nested in them, or what they agree on. */
  below(type: GraphQLInputType, path: Path): Input {
    return new Input(this.#scope, this.#name, type, path);
  }

  /** Asks about the value (shape.ts). A value in the document is known, so it is no part of the shape. */
  ask(asked: ValueQuestion): string {
    if (this.#path) return this.#scope.shape.ask({ ...asked, path: this.#path } as ShapeQuestion);
    invariant(this.#node !== null, 'a value is there');
    return answerFor(asked, this.#constant(), this.#node);
  }

  /** The elements of a cursor or node id in the document. */
  #elements(): Elements {
    invariant(this.#node !== null, 'a value is there');
    return decodeOnce(this.#node, String(this.#constant()));
  }

  #constant(): unknown {
    invariant(this.#node !== null, 'a value is there');
    const value = coerceInputLiteral(this.#node, getNullableType(this.type));
    if (value === undefined) {
      throw badInput(`A value does not fit the type "${String(this.type)}".`);
    }
    return value;
  }

  #elementType(): GraphQLInputType {
    const type = getNullableType(this.type);
    invariant(isListType(type), 'not a list');
    return type.ofType as GraphQLInputType;
  }

  #listNodes(): readonly ValueNode[] {
    invariant(this.#node !== null, 'a value is there');
    return this.#node.kind === Kind.LIST ? this.#node.values : [this.#node];
  }
}

function nodeFields(node: ObjectValueNode): Map<string, ValueNode> {
  return new Map(node.fields.map((field) => [field.name.value, field.value]));
}
