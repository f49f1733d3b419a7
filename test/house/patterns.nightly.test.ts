/**
 * No regular expression of `src/` takes a time on a hostile text that grows faster than the text. Where a run of one character is
 * cut off an end, write `(?<!x)x+$`: `x+$` starts again at every character of every run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from 'recheck';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';
import { listFiles, root } from './source.ts';

/** Those that may stay, by file, with the reason. */
const harmless: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/shared/times.ts': { '0+$': 'six digits' },
  'src/check/policy-expression.ts': {
    '(?<!\'\'(?:::[\\w ."]+)?|\\d) = (?:(?:"(?:[^"]|"")+"|[a-z_][\\w$]*)\\.)?\\x6eame(?![\\w$".(])':
      'reads policies of the database of who runs the command; `name` is what RegExp.escape makes of it',
  },
  'src/config/open-brackets.ts': { '"(?:\\\\.|[^"\\\\])*"|\'[^\']*\'|#.*|[[\\]{}]': 'reads a file of the operator' },
  'src/cli/rotate-keys.ts': { 'T(.*)\\..*': 'reads a time of ours' },
  'src/server/route.ts': { '[/:_.-]+(\\w)': 'reads our own paths' },
  'src/studio/app/build.ts': { '@font-face\\s*\\{[^}]*\\}': 'reads a file of a package' },
  'src/email/lint/plain-variables.ts': { '\\{?[ \\t]*$': 'reads eight characters' },
  'src/email/engine/values/format-float.ts': { '0+$': 'the digits of a float, 770 at most' },
  'src/studio/app/components/format-sql.ts': {
    '\\(\\n *([^()]*(?:\\([^()\\n]*(?:\\([^()\\n]*\\)[^()\\n]*)*\\)[^()]*)*)\\n *\\)':
      'in the browser of who reads a condition as PostgreSQL prints it',
  },
  'src/studio/app/pages/emails/folds.ts': {
    '<(head|style|script)\\b[\\s\\S]*?<\\/\\1\\s*>': 'in the browser of who types the text, 100,000 characters at most',
    '<!--[\\s\\S]*?-->|<[/!a-z](?:"[^"]*"|\'[^\']*\'|[^"\'>])*>': 'as above',
    '(?<=\\sstyle\\s*=\\s*)"[^"\\n]+"': 'as above',
  },
  'src/studio/app/pages/emails/go-template.ts': {
    '\\/\\*[\\s\\S]*?\\*\\/|"(?:[^"\\\\\\n]|\\\\.)*"|`[^`]*`|\\$?\\.?[A-Za-z_][\\w.]*|\\$|\\d[\\w.]*':
      'in the browser of who types the text',
    '\\.?[A-Za-z]*$': 'reads 2000 characters',
  },
};

interface Found {
  readonly path: string;
  readonly source: string;
  readonly flags: string;
}

/** A node of the syntax tree, of the members that are looked at. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
  readonly id?: { readonly name?: string };
  readonly init?: Node | null;
}

async function readPatterns(path: string): Promise<readonly Found[]> {
  const text = readFileSync(join(root, path), 'utf8');
  const nodes = [...nodesOf(parseSync(path, text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }).program)];
  const codeOf = ({ start, end }: Node) => text.slice(start, end);
  const constants = new Map(
    nodes
      .filter(({ type, init }) => type === 'VariableDeclarator' && init)
      .map(({ id, init }) => [id?.name, codeOf(init as Node)]),
  );
  const literals = nodes.flatMap(({ regex }) => (regex ? [{ path, source: regex.pattern, flags: regex.flags }] : []));
  const composed = nodes.filter(({ type, callee }) => type === 'NewExpression' && callee?.name === 'RegExp');
  const known = composed.flatMap((node) => {
    const { source, flags } = tryToEvaluate(codeOf(node), constants) ?? {};
    return source === undefined || flags === undefined ? [] : [{ path, source, flags }];
  });
  if (known.length === composed.length) return [...literals, ...known];
  const made = await patternsMadeBy(path);
  // What is composed by functions of the file has to be composed while it is loaded.
  if (made.length === 0) throw new Error(`cannot read the regular expressions of ${path}`);
  return [...literals, ...known, ...made];
}

function tryToEvaluate(code: string, constants: ReadonlyMap<string | undefined, string>): RegExp | null {
  try {
    return evaluate(code, constants) as RegExp;
  } catch {
    return null;
  }
}

/** Those that a file composes while it is loaded. */
async function patternsMadeBy(path: string): Promise<readonly Found[]> {
  const made: Found[] = [];
  const usual = globalThis.RegExp;
  globalThis.RegExp = new Proxy(usual, {
    construct(target, given, self) {
      const pattern = Reflect.construct(target, given, self) as RegExp;
      made.push({ path, source: pattern.source, flags: pattern.flags });
      return pattern;
    },
  });
  // What it needs is there already, and is not read again.
  await import(join(root, path));
  made.length = 0;
  await import(`${join(root, path)}?again`).finally(() => {
    globalThis.RegExp = usual;
  });
  return made;
}

function* nodesOf(tree: unknown): Generator<Node> {
  if (typeof tree !== 'object' || tree === null) return;
  if ('type' in tree) yield tree as Node;
  for (const part of Object.values(tree)) yield* nodesOf(part);
}

/** The value of code with the constants of its file; what is known at run time only is the word `name`. */
function evaluate(code: string, constants: ReadonlyMap<string | undefined, string>): unknown {
  const scope = new Proxy(
    {},
    {
      has: (_, name) => !(name in globalThis),
      get: (_, name) => {
        if (typeof name === 'symbol') return undefined;
        try {
          const value = evaluate(constants.get(name) ?? '"name"', constants);
          // A parameter may have the name of a constant elsewhere in the file.
          return typeof value === 'string' || typeof value === 'function' || Array.isArray(value) ? value : 'name';
        } catch {
          return 'name';
        }
      },
    },
  );
  return new Function('scope', `with (scope) return (${code})`)(scope);
}

const found: Found[] = [];
for (const path of [...listFiles('src', '.ts'), ...listFiles('src', '.tsx')]) found.push(...(await readPatterns(path)));

test('no text makes a regular expression slow', { timeout: 3_600_000 }, async () => {
  const slow: Record<string, unknown>[] = [];
  for (const { path, source, flags } of found) {
    if (harmless[path]?.[source] !== undefined) continue;
    // Counts decide, so that every machine finds the same. The slowest takes six seconds.
    const result = await check(source, flags, { timeout: 300_000, attackTimeout: null, incubationTimeout: null });
    if (result.status !== 'safe')
      slow.push({ path, source, status: result.status, text: 'attack' in result ? result.attack.pattern : null });
  }
  expect(slow).toEqual([]);
});

test('every exception is a regular expression of its file', () => {
  const listed = Object.entries(harmless).flatMap(([path, sources]) =>
    Object.keys(sources).map((source) => ({ path, source })),
  );
  const gone = listed.filter((each) => !found.some(({ path, source }) => path === each.path && source === each.source));
  expect(gone).toEqual([]);
});
