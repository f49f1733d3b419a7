import { expect, test } from 'vitest';
import { readIndexExpression } from '../../../../src/graphql/model/tables/index-expression.ts';

test('an index expression is read with its names, and one of many megabytes is left alone', () => {
  const columns = new Map([['body', 2]]);
  expect(readIndexExpression("(body <> 'a''b'::text)", columns)).toHaveLength(6);
  // JavaScript's stack would end in its string.
  expect(readIndexExpression(`(body <> '${'a'.repeat(17_000_000)}'::text)`, columns)).toBeNull();
});
