/**
 * Rows arrive in memory that is written over after each read: what is made of the first and the last of them after all have come is
 * right all the same.
 */
import { expect, test } from 'vitest';
import type { AnswerLayout } from '../../../../src/graphql/compile/answer/answer-layout.ts';
import { RowsAnswer } from '../../../../src/graphql/execute/answer/rows-answer.ts';
import { AnswerMemory } from '../../../../src/postgres/wire/answer-memory.ts';

const columns = [{ index: 0, form: 'text' as const }];
const layout: AnswerLayout = {
  pieces: [
    '{"rows":[',
    { kind: 'rows', row: [{ kind: 'column', index: 0, form: 'text' }] },
    '],"start":',
    { kind: 'cursor', of: 'start', columns },
    ',"end":',
    { kind: 'cursor', of: 'end', columns },
    ',"hasPrevious":',
    { kind: 'of_first', index: 1 },
    ',"total":',
    { kind: 'column', index: 2, form: 'json' },
    '}',
  ],
  limit: null,
  backward: false,
  rowPresence: null,
};

/** The columns of a row as PostgreSQL sends them. */
function rowOf(texts: readonly string[]): Buffer {
  const parts = texts.flatMap((text) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(Buffer.byteLength(text));
    return [length, Buffer.from(text)];
  });
  return Buffer.concat(parts);
}

const cursorOf = (text: string) => Buffer.from(JSON.stringify([text])).toString('base64');

/** The answer to rows of these texts, as the layout has it. */
function expectedOf(texts: readonly string[]): string {
  const [start, end] = [cursorOf(texts[0]!), cursorOf(texts.at(-1)!)];
  return JSON.stringify({ rows: texts, start, end, hasPrevious: true, total: 7 });
}

/** The answer to rows of which so many arrive with each read. */
function answerOf(texts: readonly string[], perRead: number): string {
  const maxBytes = Number.POSITIVE_INFINITY;
  const memory = new AnswerMemory(
    () => {},
    () => true,
  );
  const answer = new RowsAnswer(layout, { limit: null, maxBytes, isMutation: false, memory });
  const room = Buffer.alloc(10_000);
  for (let start = 0; start < texts.length; start += perRead) {
    let at = 0;
    for (const text of texts.slice(start, start + perRead)) {
      const row = rowOf([text, 't', '7']);
      row.copy(room, at);
      answer.add(room, at);
      at += row.length;
    }
    answer.keep();
    room.fill(0x7f);
  }
  return String(answer.finish());
}

test('The first and the last row outlive the read that brought them', () => {
  for (const count of [1, 2, 3, 10]) {
    const texts = Array.from({ length: count }, (_, index) => `row "${index}" €`);
    for (const perRead of [1, 2, 3, 10]) {
      expect(answerOf(texts, perRead), `${count} rows, ${perRead} at once`).toBe(expectedOf(texts));
    }
  }
});

test('Long answers are the same as bytes', () => {
  const texts = Array.from({ length: 500 }, (_, index) => `row ${index} `.repeat(4));
  expect(answerOf(texts, 7)).toBe(expectedOf(texts));
});
