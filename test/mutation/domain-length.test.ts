import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create domain short as varchar(3);
  create domain shorter as short;
  create table note (id int primary key, code short, deep shorter, codes varchar(3)[]);
  grant usage on schema public to anon;
  grant all on note to anon;
`);
const execution = await startExecution(database);
const refusal = 'Invalid input for String type. Maximum character length 3';

test.each(['code', 'deep'])(
  'a value too long for a domain over varchar(n) is refused, never cut: %s',
  async (field) => {
    const insert = (value: string) =>
      execution.errors(
        'anon',
        `mutation { insertIntoNoteCollection(objects: [{id: 1, ${field}: "${value}"}]) { affectedCount } }`,
      );
    expect(await insert('abcd')).toEqual([refusal]);
    expect(await database.query('select id from note')).toEqual([]);
    const update = `mutation ($v: Opaque) { updateNoteCollection(set: {${field}: $v}, atMost: 5) { affectedCount } }`;
    expect(await execution.errors('anon', update, { variables: { v: 'abcd' } })).toEqual([refusal]);
    expect(await insert('añc')).toEqual([]);
    expect(await database.query(`select ${field} as value from note`)).toEqual([{ value: 'añc' }]);
    await database.query('delete from note');
  },
);
