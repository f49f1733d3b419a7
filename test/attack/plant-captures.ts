/**
 * Plants operators and functions that fit their arguments exactly, by a role that may only create in a schema. Each notes who ran it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const compiler = join(import.meta.dirname, '../../src/graphql/compile');
const source = readdirSync(compiler, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(compiler, file), 'utf8'))
  .join('\n');

/** Names of all functions that requests call, from the source of the compiler. */
const functions = [
  ...new Set(
    [...source.matchAll(/pg_catalog\.([a-z_0-9]+)\(/g)].map(([, name]) => name!).concat('min', 'max', 'lower', 'now'),
  ),
];

const tests = [
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  '~~',
  '~~*',
  '!~~',
  '~',
  '~*',
  '@>',
  '<@',
  '&&',
  '?',
  '?|',
  '?&',
  '@?',
  '@@',
];
const joins = ['||', '#>', '#>>', '->', '->>'];
const sums = ['+', '-', '*', '/', '%'];

/**
 * SQL that plants, as the role `mallory`, in the schema `api`, for values of the types: every operator between two of the same type and
 * between one and what our statements put beside values, and every function of one of them, of two equal ones and of one beside a text.
 * `trap.captured` has who ran which.
 */
export function plantCaptures(types: readonly string[]): string {
  const beside = ['text', 'int4', 'int8', 'numeric', '"char"', 'float8'];
  const all = [...new Set([...types, 'record', 'anyelement', 'anyarray', ...beside])];
  const pairs = all.flatMap((type) => [
    [type, type],
    ...beside.filter((other) => other !== type).flatMap((other) => [[type, other], [other, type]]),
  ]); // biome-ignore format: pairs
  pairs.push(
    ['jsonb', 'text[]'],
    ['json', 'text[]'],
    ['jsonb', 'jsonpath'],
    ['tsvector', 'tsquery'],
    ['regconfig', 'text'],
  );
  const unique = [...new Map(pairs.map((pair) => [pair.join(), pair])).values()];
  return `
    create schema trap;
    create table trap.captured (who text, what text);
    grant usage on schema trap to public;
    grant insert on trap.captured to public;
    grant usage, create on schema api to mallory;
    set role mallory;
    do $plant$
    declare
      pair text[];
      name text;
      kind record;
    begin
      foreach pair slice 1 in array array[${unique.map((pair) => `array[${pair.map(quote).join()}]`).join()}] loop
        for kind in select * from (values ('bool', array[${tests.map(quote).join()}]), ('text', array[${joins.map(quote).join()}]),
          ('int8', array[${sums.map(quote).join()}])) k (result, operators)
        loop
          ${makeFunction("format('trap_%s', kind.result)", 'kind.result')}
          foreach name in array kind.operators loop
            execute format('create operator api.%s (leftarg = %s, rightarg = %s, function = api.trap_%s)', name, pair[1], pair[2], kind.result);
          end loop;
        end loop;
        if pair[1] = pair[2] or 'text' = any (pair) then
          foreach name in array array[${functions.map(quote).join()}] loop
            ${makeFunction('name', "'text'")}
          end loop;
        end if;
      end loop;
      foreach name in array array[${functions.map(quote).join()}] loop
        foreach pair slice 1 in array array[${all.map((type) => `array[${quote(type)}]`).join()}] loop
          ${makeFunction('name', "'text'", 'pair[1]')}
        end loop;
      end loop;
    end
    $plant$;
    reset role;`;
}

function makeFunction(name: string, result: string, args = "pair[1] || ', ' || pair[2]"): string {
  const body = `begin insert into trap.captured values (current_user, %L); return null; end`;
  return `execute format('create function api.%I(%s) returns %s language plpgsql set search_path = pg_catalog as $trap$${body}$trap$',
            ${name}, ${args}, ${result}, ${name} || '(' || ${args} || ')');`;
}

function quote(text: string): string {
  return `'${text}'`;
}
