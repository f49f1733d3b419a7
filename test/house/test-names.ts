/**
 * The names of the tests of a file, read from its source: a run would need a database, and would know none of a file that it leaves out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { root } from './source.ts';

/** A node of the syntax tree, of the members that are looked at. */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly callee?: Node;
  readonly object?: Node;
  readonly tag?: Node;
  readonly arguments?: readonly Node[];
}

/**
 * Names of all tests, each behind those of the groups that it is in, with ` > ` between; `%s` and the like as they are written, and
 * `…` for what a template literal puts in.
 *
 * @param file From the root: `test/http/gateway.test.ts`.
 */
export function readTestNames(file: string): readonly string[] {
  const names: string[] = [];
  collect(parseSync(file, readFileSync(join(root, file), 'utf8'), { lang: 'ts' }).program, [], names);
  return names;
}

function collect(tree: unknown, groups: readonly string[], names: string[]): void {
  if (typeof tree !== 'object' || tree === null) return;
  const node = tree as Node;
  const name = node.type === 'CallExpression' ? textOf(node.arguments?.[0]) : null;
  const kind = name === null ? null : functionOf(node.callee);
  if (kind === 'test' && name !== null) names.push([...groups, name].join(' > '));
  const inside = kind === 'describe' && name !== null ? [...groups, name] : groups;
  for (const part of Object.values(node)) collect(part, inside, names);
}

/** `test` of `test(…)`, `test.each(rows)(…)` and `test.skipIf(…)(…)`. */
function functionOf(node: Node | undefined): string | null {
  if (node === undefined) return null;
  return node.name ?? functionOf(node.callee ?? node.object ?? node.tag);
}

function textOf(node: Node | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral') return (node.quasis ?? []).map(({ value }) => value.cooked).join('…');
  return null;
}
