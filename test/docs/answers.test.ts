import { describe, expect, test } from 'vitest';
import { renderJson, renderText } from './answers.ts';
import { parsePage, printPage } from './parse-page.ts';

describe('an answer of a page', () => {
  test('an answer of a page stays as it was written where it is true, however it is laid out', () => {
    const written = '{"data": {"name": "Tent",\n  "price": "1.50"}}\n';
    expect(renderJson(written, { data: { name: 'Tent', price: '1.50' } })).toBe(written);
    expect(renderText('one\ntwo\n', 'one\ntwo\n\n')).toBe('one\ntwo\n');
  });

  test('an answer of a page is written anew where it is not, and so is no longer what the page says', () => {
    expect(renderJson('{ "name": "Tent" }\n', { name: 'Desk' })).toBe('{\n  "name": "Desk"\n}\n');
    expect(renderJson('no JSON', { rows: [] })).toBe('{\n  "rows": []\n}\n');
    expect(renderText('one\n', 'two\n')).toBe('two\n');
    expect(renderText('one\n', 'one and two\n')).toBe('one and two\n');
  });

  test('an answer of a page may leave out what changes, and nothing beside it', () => {
    const written = '{ "id": "…", "name": "Tent" }\n';
    expect(renderJson(written, { id: 'f81d', name: 'Tent' })).toBe(written);
    expect(renderJson(written, { id: 'f81d', name: 'Desk' })).toBe('{\n  "id": "…",\n  "name": "Desk"\n}\n');
    expect(renderJson(written, { name: 'Tent' })).toBe('{\n  "name": "Tent"\n}\n');
    expect(renderText('a … c\n', 'a\nb c\n')).toBe('a\nb c\n');
    expect(renderText('a … c\n', 'a b c\n')).toBe('a … c\n');
  });
});

describe('a page', () => {
  const text = '# Title\n\n```sql\nselect 1;\n```\n\n<!-- not run: it needs a moon -->\n```sh\nfly\n```\n\nThe end.\n';

  test('a page is its texts and its blocks, and these make the page again', () => {
    const { parts } = parsePage(text);
    expect(parts.filter((part) => part.kind === 'code')).toEqual([
      { kind: 'code', language: 'sql', words: [], body: 'select 1;\n', line: 3, notRun: null },
      { kind: 'code', language: 'sh', words: [], body: 'fly\n', line: 8, notRun: 'it needs a moon' },
    ]);
    expect(printPage(parts)).toBe(text);
  });

  test.each([
    ['a block that says no language', '```\nselect 1;\n```\n', 'line 1: the block says no language'],
    ['a block without an end', 'text\n\n```sql\nselect 1;\n', 'a block has no end'],
  ])('%s is refused', (_what, page, message) => {
    expect(() => parsePage(page)).toThrow(message);
  });
});
