/** The statements that make random tables and views: triggers, policies, grants, and rows that roles cannot make. */
import type { Random } from '../property/random.ts';
import type { Role, Table } from './world.ts';

export function tableStatements(random: Random, table: Table): string[] {
  const { schema, name, columns, traits } = table;
  const path = `${schema}.${name}`;
  const constraints = table.references.map(
    ({ columns: own, ddl }, index) => `constraint ${name}_r${index} foreign key (${own.join(', ')}) ${ddl}`,
  );
  const members = [
    ...columns.map((column) => `${column.name} ${column.type} ${column.ddl}`),
    `constraint ${name}_pkey primary key (${table.key.join(', ')})`,
    ...constraints,
  ];
  const [, code] = table.uniques;
  const unique = code && `create unique index ${code.name} on ${path} ${code.arbiter}`;
  return [
    `create sequence ${path}_numbers`,
    `create table ${path} (${members.join(', ')})${traits.has('partitions') ? ` partition by range (${table.key[0]})` : ''}`,
    ...(traits.has('partitions')
      ? [
          `create table ${path}_low partition of ${path} for values from (minvalue) to (3)`,
          `create table ${path}_mid partition of ${path} for values from (3) to (30)`,
          `create table ${path}_rest partition of ${path} default`,
        ]
      : []),
    ...(traits.has('inheritance') ? [`create table ${path}_more () inherits (${path})`] : []),
    ...columns
      .filter(({ ddl }) => ddl.includes('nextval'))
      .map((column) => `alter sequence ${path}_numbers owned by ${path}.${column.name}`),
    ...(unique !== undefined ? [unique] : []),
    ...(traits.has('unique: deferrable')
      ? [`alter table ${path} add unique (code) deferrable initially deferred`]
      : []),
    ...table.references.map(
      ({ up, down }, index) =>
        `comment on constraint ${name}_r${index} on ${path} is '@graphql({"foreign_name": "${up}", "local_name": "${down}"})'`,
    ),
    ...triggerStatements(table),
    ...(random.chance(0.6) ? policyStatements(random, table) : []),
  ];
}

/** Rows that policies or views hide, and those of child tables: the roles cannot make them. */
export function hiddenRows(table: Table): string[] {
  const others = table.references.filter(({ target }) => target.name !== table.name);
  const referring = (number: number) =>
    others.flatMap(({ columns, target, targetColumns }) =>
      columns.map((column, index) => [
        column,
        `(select ${targetColumns[index]} from ${target.schema}.${target.name} order by code offset ${(number * 2) % 7} limit 1)`,
      ]),
    );
  // All see the last one, and another refers to it.
  const rows = ['12, false', '13, false', '5, true', '12, false', '13, false', '5, true', '4, false'];
  const inherited = table.traits.has('inheritance') ? ['5, false', '7, false'] : [];
  return [...rows, ...inherited].map((values, number) => {
    const isInherited = number >= rows.length;
    const own = isInherited
      ? [['id', table.keyKind === 'uuid' ? `'00000000-0000-4000-9000-00000000000${number}'` : `${5_000_000 + number}`]]
      : table.keyKind === 'composite'
        ? [
            ['area', `${number + 1}`],
            ['part', `'hidden'`],
          ]
        : [];
    const all = [...own, ...referring(number)];
    const names = ['code', 'n', 'hidden', ...all.map(([column]) => column)];
    return `insert into ${table.schema}.${table.name}${isInherited ? '_more' : ''} (${names.join(', ')}) values (${[`'hidden ${number}'`, values, ...all.map(([, value]) => value)].join(', ')})`;
  });
}

function triggerStatements({ schema, name, traits, keyKind, key: [first = ''], columns, references }: Table): string[] {
  const path = `${schema}.${name}`;
  const own = references[0]?.columns ?? [];
  // Rows change after they were written: those that others refer to.
  const above = references.find(({ target }) => target.name !== name);
  const found = above?.columns.map((column, index) => `${above.targetColumns[index]} = new.${column}`).join(' and ');
  const hides =
    above !== undefined && traits.has('trigger: hide')
      ? `if new.note = 'hide' then update ${schema}.${above.target.name} set hidden = true, hits = hits + 1 where ${found}; end if;`
      : '';
  // A row of the same parents, by a key that no sequence makes.
  const copied = references.flatMap((reference) => reference.columns);
  const more =
    keyKind === 'composite' && traits.has('trigger: more')
      ? `if new.note = 'more' then insert into ${path} (${['area', 'part', ...copied].join(', ')}) values (${['new.area', `new.part || '+'`, ...copied.map((column) => `new.${column}`)].join(', ')}) on conflict (area, part) do nothing; end if;`
      : '';
  const mayBeNull = columns.every(({ name: column, ddl }) => !own.includes(column) || ddl === '');
  const rekey =
    keyKind === 'by a trigger' || keyKind === 'uuid' || keyKind === 'composite'
      ? ''
      : `new.${keyKind === 'composite serial' ? 'no' : first} := new.${keyKind === 'composite serial' ? 'no' : first} + 1000;`;
  const body = [
    traits.has('trigger: skip') ? `if new.note = 'skip' then return null; end if;` : '',
    traits.has('trigger: boom') ? `if new.note = 'boom' then raise exception 'boom'; end if;` : '',
    traits.has('trigger: orphan') && mayBeNull
      ? `if new.note = 'orphan' then ${own.map((column) => `new.${column} := null; `).join('')} end if;`
      : '',
    traits.has('trigger: move') && rekey !== ''
      ? `if tg_op = 'UPDATE' then if new.note = 'rekey' and old.note is distinct from 'rekey' then ${rekey} end if; end if;`
      : '',
    traits.has('trigger: rekey') && rekey !== ''
      ? `if tg_op = 'INSERT' and new.note = 'rekey' then ${rekey} end if;`
      : '',
    keyKind === 'by a trigger'
      ? `if tg_op = 'INSERT' then new.id := coalesce(new.id, 'k') || '-' || nextval('${path}_numbers'); end if;`
      : '',
  ].join('\n  ');
  return [
    `create function ${path}_before() returns trigger language plpgsql as $$ begin\n  ${body}\n  return new; end $$`,
    `create trigger before_write before ${traits.has('inserts as given') ? '' : 'insert or '}update on ${path} for each row execute function ${path}_before()`,
    ...(traits.has('trigger: stay')
      ? [
          `create function ${path}_stay() returns trigger language plpgsql as $$ begin
  if old.note = 'stay' then return null; end if; return old; end $$`,
          `create trigger before_delete before delete on ${path} for each row execute function ${path}_stay()`,
        ]
      : []),
    `create function ${path}_after() returns trigger security definer language plpgsql as $$ begin
  insert into ${schema}.log (what) values ('${name} ' || new::text);
  ${hides}
  ${more}
  return null; end $$`,
    `create trigger after_insert after insert on ${path} for each row execute function ${path}_after()`,
  ];
}

function policyStatements(random: Random, { schema, name, references, traits }: Table): string[] {
  const path = `${schema}.${name}`;
  (traits as Set<string>).add('policies');
  const parents = references.filter(({ target }) => target.name !== name);
  const parent = parents.length > 0 && random.chance(0.7) ? random.pick(parents) : null;
  if (parent !== null) (traits as Set<string>).add('policy looks the parent up');
  const isNull = parent?.columns.map((column) => `${name}.${column} is null`).join(' or ');
  const joined = parent?.columns.map((column, index) => `p.${parent.targetColumns[index]} = ${name}.${column}`);
  const lookUp = (number: number, otherwise: string) =>
    parent === null
      ? otherwise
      : `${isNull} or exists (select from ${schema}.${parent.target.name} p where ${joined?.join(' and ')} and p.n is distinct from ${number})`;
  const insert = lookUp(14, random.pick(['true', 'n is distinct from 14']));
  const ofCommand = (usual: string) => {
    if (parent === null || random.chance(0.6)) return usual;
    (traits as Set<string>).add('policies of several commands look the parent up');
    return `(${usual}) and (${lookUp(15, 'true')})`;
  };
  const select = ofCommand(random.pick(['true', 'not hidden', 'n is distinct from 13']));
  return [
    `alter table ${path} enable row level security`,
    `create policy s on ${path} for select using (${select})`,
    `create policy i on ${path} for insert with check (${insert})`,
    `create policy u on ${path} for update using (${ofCommand('n is distinct from 15')}) with check (${ofCommand('n is distinct from 14')})`,
    `create policy d on ${path} for delete using (${ofCommand('n is distinct from 15')})`,
  ];
}

export function viewStatements(random: Random, view: Table): string[] {
  const { schema, name, kind, key: own, columns } = view;
  const base = `${schema}.${view.base?.name}`;
  const foreign = view.references.map((reference) => ({
    local_columns: reference.columns,
    foreign_schema: schema,
    foreign_table: reference.target.name,
    foreign_columns: reference.targetColumns,
    foreign_name: reference.up,
    local_name: reference.down,
  }));
  const comment = `comment on view ${schema}.${name} is '@graphql(${JSON.stringify({ primary_key_columns: own, foreign_keys: foreign })})'`;
  if (kind === 'view') {
    const condition = random.pick([
      '',
      '',
      ' where n is distinct from 12',
      ' where n is distinct from 12 with check option',
    ]);
    const isInvoker = random.chance(0.5);
    if (isInvoker) (view.traits as Set<string>).add('view of the invoker');
    if (condition.includes('check')) (view.traits as Set<string>).add('check option');
    return [
      `create view ${schema}.${name} as select * from ${base}${condition}`,
      comment,
      // PostgreSQL 14 has no such views.
      ...(isInvoker
        ? [
            `do $$ begin if current_setting('server_version_num')::int >= 150000 then alter view ${schema}.${name} set (security_invoker = true); end if; end $$`,
          ]
        : []),
    ];
  }
  const isMade = view.keyKind !== 'composite';
  const written = columns.map((column) => column.name).filter((column) => !(isMade && own.includes(column)));
  const same = own.map((column) => `${column} = old.${column}`).join(' and ');
  const body = `begin
  if tg_op = 'DELETE' then delete from ${base} where ${same}; return old; end if;
  if new.note = 'skip' then return null; end if;
  new.hidden := coalesce(new.hidden, false);
  if tg_op = 'UPDATE' then update ${base} set n = new.n, hits = new.hits, note = new.note where ${same}; return new; end if;
  insert into ${base} (${written.join(', ')}) values (${written.map((column) => `new.${column}`).join(', ')}) returning * into new;
  return new; end`;
  return [
    `create view ${schema}.${name} as select * from ${base}`,
    comment,
    `create function ${schema}.${name}_write() returns trigger security definer language plpgsql as $$ ${body} $$`,
    `create trigger write instead of insert or update or delete on ${schema}.${name} for each row execute function ${schema}.${name}_write()`,
  ];
}

export function grantStatements(
  random: Random,
  { schema, name, columns, traits, key: own }: Table,
  role: Role,
): string[] {
  const path = `${schema}.${name}`;
  if (random.chance(0.06)) return [`grant insert on ${path} to ${role}`];
  if (random.chance(0.7)) return [`grant select, insert, update, delete on ${path} to ${role}`];
  (traits as Set<string>).add('column grants');
  const names = columns.map((column) => column.name);
  const list = (probability: number, always: readonly string[]) =>
    names.filter((column) => always.includes(column) || random.chance(probability)).join(', ');
  return [
    `grant select (${list(0.8, ['hits', ...(random.chance(0.8) ? own : [])])}), insert (${list(0.8, ['note'])}), update (${list(0.7, ['note'])}) on ${path} to ${role}`,
    ...(random.chance(0.7) ? [`grant delete on ${path} to ${role}`] : []),
  ];
}
