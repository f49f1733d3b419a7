/**
 * Plans the arguments of a routine call, of a field or in an input (docs/functions.md).
 *
 * Refuses null for an argument without a default, and objects whose text would be too long.
 */
import { type GraphQLInputType, getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { PublicError } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import type { ArgumentType, CompositeAttribute, Routine } from '../../model/model.ts';
import { type ArgumentOrigin, type InputFieldOrigin, inputFieldOrigin } from '../../schema/origin.ts';
import type { Input } from '../input/input.ts';
import { type PlanBudget, spend } from '../input/plan-budget.ts';
import type { Slot, TextForm } from '../input/slot.ts';
import type { CallPlan } from './plan.ts';

/** The given arguments. An absent one is left out of the call, so that PostgreSQL applies its default. */
export function planArguments(
  inputs: readonly { readonly origin: ArgumentOrigin | InputFieldOrigin; readonly input: Input }[],
): CallPlan['arguments'] {
  return inputs.flatMap(({ origin, input }) => {
    if (origin.kind !== 'routine_argument' || input.state() === 'absent') return [];
    const { argument } = origin;
    return [{ argument, slot: planValue(argument.type, input) }];
  });
}

/** A call for each of many rows. @param given The input with its arguments, null for none. */
export function planRowCall(budget: PlanBudget, routine: Routine, given: Input | null): CallPlan {
  const fields = given?.fields() ?? [];
  spend(budget, 'functions');
  spend(budget, 'inputs', fields.length);
  return {
    routine,
    arguments: planArguments(fields.map(({ field, input }) => ({ origin: inputFieldOrigin(field), input }))),
  };
}

const nothing: Slot = { kind: 'constant', value: null };

function planValue(type: ArgumentType, input: Input): Slot {
  if (type.kind === 'list') return input.listSlot();
  if (type.kind !== 'composite') return input.slot();
  if (input.state() !== 'value') return nothing;
  if (input.path() !== null) return planVariable(input);
  if (!type.isList) return planRecord(input);
  return { kind: 'array', items: [...input.items()].map((item) => planValue({ ...type, isList: false }, item)) };
}

/** Longest text of objects in each other, for which quotes are doubled several times. */
const maxText = 16_000_000;

// The text of a statement is the same for all objects: they are one parameter.
function planVariable(input: Input): Slot {
  const form = formOf(input.type);
  if (nests(form) && input.ask({ kind: 'text_length', form, most: maxText }) === 'long') {
    const message = `The value of ${input.place()} is too large for an argument of a composite type. Send less at once.`;
    throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'text', input: input.place() } });
  }
  return input.formSlot(form);
}

function planRecord(input: Input): Slot {
  const given = new Map(input.fields().map(({ field, input: attribute }) => [field.name, attribute]));
  const attributes = attributesOf(input.type).map(({ fieldName, type }) => {
    const attribute = given.get(fieldName ?? '');
    return attribute === undefined || type === null ? nothing : planValue(type, attribute);
  });
  return { kind: 'record', attributes };
}

function attributesOf(type: GraphQLInputType): readonly CompositeAttribute[] {
  const named = getNamedType(type);
  invariant(isInputObjectType(named), 'a composite type is an input object');
  const [field] = Object.values(named.getFields());
  const origin = field && inputFieldOrigin(field);
  invariant(origin?.kind === 'attribute', 'its fields are attributes');
  return origin.composite.attributes;
}

function formOf(type: GraphQLInputType): TextForm {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return { kind: 'list', element: formOf(nullable.ofType as GraphQLInputType) };
  if (!isInputObjectType(nullable)) return { kind: 'scalar' };
  const fields = nullable.getFields();
  const attributes = attributesOf(nullable).map(({ fieldName }) => {
    const field = fieldName === null ? undefined : fields[fieldName];
    return field === undefined ? null : { fieldName: field.name, form: formOf(field.type) };
  });
  return { kind: 'record', attributes };
}

function nests(form: TextForm): boolean {
  if (form.kind === 'list') return form.element.kind !== 'scalar';
  return (
    form.kind === 'record' &&
    form.attributes.some((attribute) => attribute !== null && attribute.form.kind !== 'scalar')
  );
}
