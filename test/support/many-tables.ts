/**
 * SQL of many tables, as large applications have them: ten columns each, and foreign keys to earlier ones.
 */

/** The tables `thing_0` to `thing_N`, which `anon` may read and `authenticated` may write; introspection is on. */
export function manyTables(count: number): string {
  return `
    comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
    do $$ begin
      for n in 0 .. ${count - 1} loop
        execute format('create table thing_%s (id int primary key, name text not null, price numeric, at timestamptz,
          day date, data jsonb, done boolean, size bigint, parent_id int references thing_%s, other_id int references thing_%s)',
          n, n * 7919 % greatest(n, 1), n * 104729 % greatest(n, 1));
      end loop;
    end $$;
    grant usage on schema public to anon, authenticated;
    grant select on all tables in schema public to anon;
    grant all on all tables in schema public to authenticated;
  `;
}
