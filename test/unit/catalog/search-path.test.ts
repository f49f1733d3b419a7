import { expect, test } from 'vitest';
import { parseSearchPath } from '../../../src/catalog/search-path.ts';
import { searchPathText } from '../../../src/model/role-settings.ts';

test('a search path is split as PostgreSQL does', () => {
  expect(parseSearchPath('"$user", public')).toEqual(['$user', 'public']);
  expect(parseSearchPath('Public,"My Schema" , "a""b", "x,y"')).toEqual(['public', 'My Schema', 'a"b', 'x,y']);
  expect(parseSearchPath('""')).toEqual(['']);
  expect(parseSearchPath('')).toEqual([]);
});

test('the text of a search path quotes every name, and finds nothing where there is none', () => {
  expect(searchPathText(['lib', 'a"b'])).toBe('"lib", "a""b"');
  expect(searchPathText([])).toBe('""');
  expect(parseSearchPath(searchPathText(['x, y', 'A"', '$user']))).toEqual(['x, y', 'A"', '$user']);
});
