/**
 * The functions of templates, with their numbers of arguments.
 *
 * `and` and `or` have only their numbers here; evaluate.ts runs them, because they may skip arguments.
 */
import { joinFunction } from '../escape/escape-action.ts';
import { escapeHtmlFunction } from '../escape/escape-html.ts';
import { escapeScriptFunction } from '../escape/escape-script.ts';
import { encodeQueryFunction } from '../escape/escape-url.ts';
import { failValue } from '../template-error.ts';
import { formatPlainValue } from '../values/format-value.ts';
import { printAll, printShown } from '../values/stringify.ts';
import { isTruthy, type Value, valueTypeName } from '../values/value.ts';
import { indexInto, lengthOf, sliceOf } from './collections.ts';
import { compareOrder, equalsAny, type Tolerate } from './compare-values.ts';
import { printf } from './printf.ts';

/** A function of the language. */
export interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  /** Gets an allowed number of values. @throws EvaluationFailure */
  call(values: readonly Value[], tolerate: Tolerate | null): Value;
  /** Its result for values of wrong types, if those are tolerated. */
  readonly otherwise: Value;
}

const many = Number.POSITIVE_INFINITY;

function row(least: number, most: number, call: TemplateFunction['call'], otherwise?: Value): TemplateFunction {
  return { least, most, call, otherwise };
}

/** A comparison of two values by the sign of their order. */
function ordering(name: string, accepts: (order: number) => boolean): TemplateFunction {
  return row(2, 2, ([a, b]) => accepts(compareOrder(name, a, b)), false);
}

function runPrintf([format, ...values]: readonly Value[]): string {
  if (typeof format !== 'string') failValue(`wrong type for value; expected string; got ${valueTypeName(format)}`);
  return printf(format, values);
}

function refuseCall([target]: readonly Value[]): never {
  return failValue(`error calling call: non-function of type ${valueTypeName(target)}`);
}

/** All functions by name, the internal one included. */
export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries({
    and: row(1, many, () => undefined),
    or: row(1, many, () => undefined),
    not: row(1, 1, ([value]) => !isTruthy(value)),
    eq: row(1, many, (values, tolerate) => equalsAny('eq', values, tolerate)),
    ne: row(2, 2, (values, tolerate) => !equalsAny('ne', values, tolerate)),
    lt: ordering('lt', (order) => order < 0),
    le: ordering('le', (order) => order <= 0),
    gt: ordering('gt', (order) => order > 0),
    ge: ordering('ge', (order) => order >= 0),
    len: row(1, 1, ([value]) => lengthOf(value), 0n),
    index: row(1, many, ([item, ...indexes]) => indexInto(item, indexes)),
    slice: row(1, many, ([item, ...indexes]) => sliceOf(item, indexes)),
    print: row(0, many, (values) => printAll(values)),
    println: row(0, many, (values) => `${values.map(formatPlainValue).join(' ')}\n`),
    printf: row(1, many, runPrintf),
    html: row(0, many, (values) => escapeHtmlFunction(printShown(values))),
    js: row(0, many, (values) => escapeScriptFunction(printShown(values))),
    urlquery: row(0, many, (values) => encodeQueryFunction(printShown(values))),
    call: row(1, many, refuseCall),
    [joinFunction]: row(0, many, (values) => printAll(values)),
  }),
);

/** Names that templates may use. */
export const functionNames: ReadonlySet<string> = new Set(
  [...templateFunctions.keys()].filter((name) => name !== joinFunction),
);
