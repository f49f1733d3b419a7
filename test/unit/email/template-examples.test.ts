/**
 * Templates whose results are known: the manual's examples, and thousands that Go itself has rendered.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PieceScanner } from '../../../src/email/engine/escape/scan-piece.ts';
import { parseTemplate, renderTemplate, type TemplateData } from '../../../src/email/engine/template.ts';
import { TemplateError } from '../../../src/email/engine/template-error.ts';

interface Outcome {
  readonly output?: string;
  readonly error?: string;
  readonly line?: number | null;
}

interface Example extends Outcome {
  readonly group: string;
  readonly template: string;
}

/** One line of the corpus; the names are short because there are many. */
interface CorpusLine {
  readonly k?: 'text';
  readonly t: string;
  readonly d: number;
  readonly o?: string;
  readonly e?: string;
  readonly l?: number;
}

const fixtures = new URL('../../fixtures/templates/', import.meta.url);

function readFixture(name: string): string {
  return readFileSync(new URL(name, fixtures), 'utf8');
}

function render(source: string, kind: 'html' | 'text', data: TemplateData): Outcome {
  try {
    return { output: renderTemplate(parseTemplate(source, { kind }), data) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { error: error.phase, line: error.line };
  }
}

const { data, examples } = JSON.parse(readFixture('examples.json')) as { data: TemplateData; examples: Example[] };

describe.each([...new Set(examples.map(({ group }) => group))])('%s', (group) => {
  test.each(examples.filter((example) => example.group === group))('$template', ({ template, output, error, line }) => {
    const outcome = render(template, 'html', data);
    if (error === undefined) expect(outcome).toEqual({ output });
    else {
      expect(outcome.error).toBe(error);
      if (line !== undefined) expect(outcome.line).toBe(line);
    }
  });
});

const [header = '', ...lines] = readFixture('go-corpus.jsonl').trimEnd().split('\n');
const dataSets = (JSON.parse(header) as { data: TemplateData[] }).data;
const corpus = lines.map((line) => JSON.parse(line) as CorpusLine);

describe('as in Go', () => {
  const kinds = [undefined, 'parse', 'escape', 'exec'] as const;
  test.each(kinds)('templates with the fault "%s" have the same outcome', (fault) => {
    const different = corpus
      .filter(({ e }) => e === fault)
      .filter(({ k, t, d, o, e, l }) => {
        const outcome = render(t, k ?? 'html', dataSets[d] ?? {});
        return outcome.output !== o || outcome.error !== e || (e === 'parse' && outcome.line !== l);
      });
    expect(different).toEqual([]);
  });

  test('the templates lead through every transition between contexts', () => {
    const original = PieceScanner.prototype.move;
    const seen = new Set<string>();
    PieceScanner.prototype.move = function (context, text) {
      const scan = original.call(this, context, text);
      seen.add(`${context.state} ${scan.context.state}`);
      return scan;
    };
    try {
      for (const { k, t } of corpus) if (k === undefined) render(t, 'html', {});
    } finally {
      PieceScanner.prototype.move = original;
    }
    expect([...seen].sort()).toEqual(
      transitions.flatMap(([from, ...to]) => to.map((state) => `${from} ${state}`)).sort(),
    );
  });
});

/** From each state, the states that one step of literal text can lead to; end tags lead from content to text besides. */
const transitions = [
  ['text', 'text', 'tag', 'htmlComment'],
  ['htmlComment', 'htmlComment', 'text'],
  ['rcdata', 'rcdata'],
  ['tag', 'tag', 'attributeName', 'afterName', 'text', 'rcdata', 'script', 'css'],
  ['attributeName', 'attributeName', 'afterName'],
  ['afterName', 'afterName', 'tag', 'beforeValue'],
  ['beforeValue', 'beforeValue', 'attribute', 'url', 'srcset', 'css', 'script', 'metaContent'],
  ['attribute', 'attribute'],
  ['url', 'url'],
  ['srcset', 'srcset'],
  ['metaContent', 'metaContent', 'metaUrl'],
  ['metaUrl', 'metaUrl', 'metaContent'],
  ['script', 'script', 'doubleString', 'singleString', 'templateLiteral', 'regexp', 'blockComment', 'lineComment'],
  ['script', 'htmlOpenComment', 'htmlCloseComment'],
  ['doubleString', 'doubleString', 'script'],
  ['singleString', 'singleString', 'script'],
  ['templateLiteral', 'templateLiteral', 'script'],
  ['regexp', 'regexp', 'script'],
  ['blockComment', 'blockComment', 'script'],
  ['lineComment', 'lineComment', 'script'],
  ['htmlOpenComment', 'htmlOpenComment', 'script'],
  ['htmlCloseComment', 'htmlCloseComment', 'script'],
  ['css', 'css', 'cssDoubleString', 'cssSingleString', 'cssDoubleUrl', 'cssSingleUrl', 'cssUrl'],
  ['css', 'cssBlockComment', 'cssLineComment'],
  ['cssDoubleString', 'cssDoubleString', 'css'],
  ['cssSingleString', 'cssSingleString', 'css'],
  ['cssDoubleUrl', 'cssDoubleUrl', 'css'],
  ['cssSingleUrl', 'cssSingleUrl', 'css'],
  ['cssUrl', 'cssUrl', 'css'],
  ['cssBlockComment', 'cssBlockComment', 'css'],
  ['cssLineComment', 'cssLineComment', 'css'],
] as const;
