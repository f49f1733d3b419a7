/**
 * Makes a failing operation smaller: drops one piece at a time (a field, an argument, an entry of an input, a directive, a
 * variable's key) and keeps what still fails.
 */
import { type ASTNode, Kind, parse, print, visit } from 'graphql';
import type { Operation } from './generate-query.ts';

const droppable: ReadonlySet<string> = new Set([
  Kind.FIELD,
  Kind.INLINE_FRAGMENT,
  Kind.FRAGMENT_SPREAD,
  Kind.ARGUMENT,
  Kind.OBJECT_FIELD,
  Kind.DIRECTIVE,
  Kind.FRAGMENT_DEFINITION,
  Kind.VARIABLE_DEFINITION,
]);

/** The smallest failing operation found within this many tries. */
export async function shrink(
  operation: Operation,
  stillFails: (smaller: Operation) => Promise<boolean>,
  tries = 400,
): Promise<Operation> {
  let smallest = operation;
  let left = tries;
  for (let hasShrunk = true; hasShrunk && left > 0; ) {
    hasShrunk = false;
    // Later candidates are tried on what the earlier ones have left; the count only shrinks.
    for (let index = 0; left > 0; index++) {
      const candidate = candidateAt(smallest, index);
      if (candidate === null) break;
      left -= 1;
      if (!(await stillFails(candidate))) continue;
      smallest = candidate;
      hasShrunk = true;
      index -= 1;
    }
  }
  return smallest;
}

/** The operation without its nth piece; null: there are no more. */
function candidateAt({ query, variables }: Operation, index: number): Operation | null {
  const document = parse(query);
  let seen = -1;
  let found = false;
  const shorter = visit(document, {
    enter(node: ASTNode): undefined | null {
      if (found || !droppable.has(node.kind)) return undefined;
      seen += 1;
      found = seen === index;
      return found ? null : undefined;
    },
  });
  if (found) return { query: print(shorter), variables };
  const rest = index - seen - 1;
  const paths = pathsOf(variables);
  const path = paths[rest];
  return path === undefined ? null : { query, variables: without(variables, path) as Record<string, unknown> };
}

/** Paths of everything inside of variables. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]) => [[...path, key], ...pathsOf(item, [...path, key])]);
}

function without(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (Array.isArray(value))
    return rest.length === 0
      ? value.toSpliced(Number(key), 1)
      : value.with(Number(key), without(value[Number(key)], rest));
  const { [key as string]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...(value as object), [key as string]: without(inner, rest) };
}
