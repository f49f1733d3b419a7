/**
 * Evaluates pipelines: operands, fields, function calls and variables, with a time budget.
 *
 * Fields are only keys of maps. Every error is an `EvaluationFailure`; `at` gives its place.
 */
import { unreachable } from '../../../shared/invariant.ts';
import type { Budget } from '../budget.ts';
import { EvaluationFailure, failValue } from '../template-error.ts';
import type { Operand, Pipeline, PipelineCommand } from '../tree.ts';
import { isTruthy, type MapValue, mapEntry, type Value, valueKind, valueTypeName } from '../values/value.ts';
import type { Tolerate } from './compare-values.ts';
import { type TemplateFunction, templateFunctions } from './functions.ts';

/** No piped value; differs from a piped "no value". */
const absent: unique symbol = Symbol('absent');

/** Longest text that a function may return, in UTF-16 units. */
const maxTextLength = 4 * 1024 * 1024;

/** A variable of a template; of equal names, the last counts. */
interface Variable {
  /** Including its `$`. */
  readonly name: string;
  value: Value;
}

/** Evaluates with the variables of one template at a time; the template runner begins and ends them. */
export class Evaluator {
  /** Offset of the current expression, for the place of an error. */
  at = 0;
  variables: Variable[] = [];
  readonly #tolerate: Tolerate | null;
  readonly #budget: Budget;

  /** @param tolerate Null: values of wrong types are faults. */
  constructor(tolerate: Tolerate | null, budget: Budget) {
    this.#tolerate = tolerate;
    this.#budget = budget;
  }

  /** Sets the variable at `back` from the last declared one. */
  setRecent(back: number, value: Value): void {
    (this.variables.at(-1 - back) as Variable).value = value;
  }

  /** Assigns to the innermost variable of a name. */
  assign(name: string, value: Value): void {
    this.#variable(name).value = value;
  }

  /** The value of a pipeline, after assigning its variables. Null becomes "no value". */
  pipeline(pipeline: Pipeline, dot: Value): Value {
    this.step();
    const { commands, variables } = pipeline;
    const [only] = commands;
    if (only !== undefined && commands.length === 1 && variables.length === 0)
      return this.#command(only, dot, absent) ?? undefined;
    let value: Value | typeof absent = absent;
    for (const command of commands) value = this.#command(command, dot, value) ?? undefined;
    // A pipeline without commands is left from `{{ html }}`.
    const result = value === absent ? '' : value;
    for (const name of variables) {
      if (pipeline.assigns) this.assign(name, result);
      else this.variables.push({ name, value: result });
    }
    return result;
  }

  step(): void {
    this.#budget.step();
  }

  /** Handles a missing value. @throws EvaluationFailure unless tolerated */
  missing(message: string): undefined {
    if (this.#tolerate === null) failValue(message);
    this.#tolerate(message);
  }

  #command({ operands }: PipelineCommand, dot: Value, piped: Value | typeof absent): Value {
    const [first] = operands;
    this.at = first.at;
    if (first.kind === 'function') return this.#call(first.name, operands.slice(1), dot, piped);
    if (first.kind === 'nil') failValue('nil is not a command');
    const hasArguments = operands.length > 1 || piped !== absent;
    const hasFields = 'path' in first && first.path.length > 0;
    if (hasArguments && !hasFields) failValue("can't give argument to non-function");
    return this.#operand(first, dot, hasArguments);
  }

  #operand(operand: Operand, dot: Value, hasArguments = false): Value {
    this.at = operand.at;
    switch (operand.kind) {
      case 'dot':
        return dot;
      case 'nil':
        return undefined;
      case 'boolean':
      case 'string':
        return operand.value;
      case 'number':
        return operand.value ?? failValue(`${operand.text} overflows int`);
      case 'field':
        return this.#fields(dot, operand.path, hasArguments);
      case 'variable':
        return this.#fields(this.#variable(operand.name).value, operand.path, hasArguments);
      case 'function':
        return this.#call(operand.name, [], dot, absent);
      case 'chain':
        return this.#fields(this.#chained(operand.of, dot), operand.path, hasArguments);
      case 'pipeline':
        return this.pipeline(operand, dot);
      default:
        return unreachable(operand);
    }
  }

  #chained(operand: Operand, dot: Value): Value {
    if (operand.kind === 'nil') failValue('indirection through explicit nil');
    return this.#operand(operand, dot);
  }

  #variable(name: string): Variable {
    const variable = this.variables.findLast((known) => known.name === name);
    if (variable === undefined) throw new EvaluationFailure('unset_variable', `undefined variable: ${name}`);
    return variable;
  }

  #fields(start: Value, path: readonly string[], hasArguments: boolean): Value {
    let value = start;
    for (let index = 0; index < path.length; index += 1) {
      const name = path[index] as string;
      if (value === undefined) return undefined;
      if (value === null) return this.missing(`nil pointer evaluating interface {}.${name}`);
      if (valueKind(value) !== 'map')
        return this.missing(`can't evaluate field ${name} in type ${valueTypeName(value)}`);
      if (hasArguments && index === path.length - 1) failValue(`${name} is not a method but has arguments`);
      value = mapEntry(value as MapValue, name);
    }
    return value;
  }

  #call(name: string, operands: readonly Operand[], dot: Value, piped: Value | typeof absent): Value {
    const at = this.at;
    const called = templateFunctions.get(name) as TemplateFunction;
    const count = operands.length + (piped === absent ? 0 : 1);
    if (count < called.least || count > called.most) {
      const wanted = called.most === called.least ? called.least : `at least ${called.least}`;
      throw new EvaluationFailure('wrong_arguments', `wrong number of args for ${name}: want ${wanted} got ${count}`);
    }
    if (name === 'and' || name === 'or') return this.#shortCircuit(name, operands, dot, piped);
    const values = operands.map((operand) => this.#operand(operand, dot));
    if (piped !== absent) values.push(piped);
    this.at = at;
    const result = this.#result(called, values);
    if (typeof result === 'string' && result.length > maxTextLength)
      throw new EvaluationFailure('output_limit', `the result of ${name} is longer than any output may be`);
    return result;
  }

  #result(called: TemplateFunction, values: readonly Value[]): Value {
    try {
      return called.call(values, this.#tolerate);
    } catch (error) {
      if (!(error instanceof EvaluationFailure) || error.code !== 'wrong_value') throw error;
      this.missing(error.message);
      return called.otherwise;
    }
  }

  #shortCircuit(name: 'and' | 'or', operands: readonly Operand[], dot: Value, piped: Value | typeof absent): Value {
    let value: Value;
    for (const operand of operands) {
      value = this.#operand(operand, dot);
      if (isTruthy(value) === (name === 'or')) return value;
    }
    return piped === absent ? value : piped;
  }
}
