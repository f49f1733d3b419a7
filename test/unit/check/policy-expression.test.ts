import { expect, test } from 'vitest';
import { comparesCaller, comparesColumn, wrapCalls } from '../../../src/check/policy-expression.ts';

test.each([
  ['(owner = auth.uid())', '(owner = ( SELECT auth.uid()))'],
  [
    `(owner = (current_setting('request.jwt.claim.sub'::text, true))::uuid)`,
    `(owner = (( SELECT current_setting('request.jwt.claim.sub'::text, true)))::uuid)`,
  ],
  ['((a = auth.uid()) OR (auth.uid() = b))', '((a = ( SELECT auth.uid())) OR (( SELECT auth.uid()) = b))'],
  [
    '(EXISTS ( SELECT 1\n   FROM member m\n  WHERE ((m.user_id = auth.uid()) AND (m.team_id = team.id))))',
    '(EXISTS ( SELECT 1\n   FROM member m\n  WHERE ((m.user_id = ( SELECT auth.uid())) AND (m.team_id = team.id))))',
  ],
])('a call that is made for each row is wrapped: %s', (before, after) => {
  expect(wrapCalls(before)).toBe(after);
  expect(wrapCalls(after)).toBe(after);
});

test.each([
  ['in a sub-select', '(owner = ( SELECT auth.uid() AS uid))'],
  ['deep in a sub-select', `(plan = ( SELECT (auth.jwt() ->> 'plan'::text)))`],
  ['words in a string', `(title = '( SELECT auth.uid()'::text)`],
  ['a quoted name', '("auth.uid()" = 1)'],
  ['a function of the operator', '(my_auth.uid() = owner)'],
])('an expression stays as it is: %s', (_what, expression) => {
  expect(wrapCalls(expression)).toBe(expression);
});

test.each([
  ['(user_id = ( SELECT auth.uid() AS uid))', 'user_id', true],
  ['(auth.uid() = user_id)', 'user_id', true],
  ['((a = 1) AND (m.user_id = auth.uid()))', 'user_id', true],
  ['("User" = auth.uid())', '"User"', true],
  ['(team_id IN ( SELECT m.team_id FROM member m))', 'team_id', true],
  [`(state = 'open'::text)`, 'state', false],
  [`(state = ANY (ARRAY['open'::text, 'new'::text]))`, 'state', false],
  ['(level = 3)', 'level', false],
  ['(3 = level)', 'level', false],
  ['(open = true)', 'open', false],
  ['(created_at > now())', 'created_at', false],
  ['(other_user_id = auth.uid())', 'user_id', false],
  [`(title = 'x = user_id'::text)`, 'user_id', false],
])('%s compares %s: %s', (expression, column, expected) => {
  expect(comparesColumn(expression, column)).toBe(expected);
});

test.each([
  ['(user_id = auth.uid())', ['user_id'], true],
  ['(( SELECT auth.uid() AS uid) = "User")', ['"User"'], true],
  [`(user_id = (NULLIF(current_setting('request.sub'::text, true), ''::text))::uuid)`, ['user_id'], true],
  [`(tenant = (( SELECT auth.jwt() AS jwt) ->> 'tenant'::text))`, ['tenant'], true],
  ['((user_id = auth.uid()) AND open)', ['open', 'user_id'], false],
  [`((user_id = auth.uid()) OR (user_id = 'x'::text))`, ['user_id'], false],
  ['(user_id <> auth.uid())', ['user_id'], false],
  ['(NOT (user_id = auth.uid()))', ['user_id'], false],
  ['((user_id = auth.uid()) IS NULL)', ['user_id'], false],
  ['(user_id IN ( SELECT m.user_id FROM member m WHERE (m.id = auth.uid())))', ['user_id', 'id'], false],
  [`(user_id = 'auth.uid()'::text)`, ['user_id'], false],
  ['(auth.uid() IS NOT NULL)', [], false],
  ['true', [], false],
])('%s says alone whose a row is: %s %s', (expression, columns, expected) => {
  expect(comparesCaller(expression, columns)).toBe(expected);
});
