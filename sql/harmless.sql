-- A part of catalog.sql and live-relations.sql: what runs no code of users when a table is read.

-- PostgreSQL's own functions that run SQL from their arguments.
runners (pattern) as (
  select ':funcid (' || pg_catalog.string_agg(p.oid::pg_catalog.text, '|') || ') '
  from pg_catalog.pg_proc p
  -- By name, because there is an index for it, and thousands of functions.
  where p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.proname in (
    'query_to_xml', 'query_to_xmlschema', 'query_to_xml_and_xmlschema', 'cursor_to_xml', 'cursor_to_xmlschema',
    'table_to_xml', 'table_to_xmlschema', 'table_to_xml_and_xmlschema', 'schema_to_xml', 'schema_to_xmlschema', 'schema_to_xml_and_xmlschema',
    'database_to_xml', 'database_to_xmlschema', 'database_to_xml_and_xmlschema', 'ts_stat', 'ts_rewrite',
    'pg_input_is_valid', 'pg_input_error_info'
  )
),
-- Functions with a parsed body that calls only PostgreSQL's own functions.
harmless_functions (oid) as (
  select p.oid
  from pg_catalog.pg_proc p
  join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'sql'
  cross join runners u
  where p.prosqlbody is not null and p.prosqlbody::pg_catalog.text !~ u.pattern and not exists (
    select from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid
      and d.refclassid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass,
        'pg_catalog.pg_type'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
  )
),
harmless_types (oid) as (
  select t.oid
  from pg_catalog.pg_type t
  where (t.typtype = 'e' or exists (select from pg_catalog.pg_type e where e.oid = t.typelem and e.typtype = 'e'))
    and not exists (
      select from pg_catalog.pg_cast c
      where c.castfunc <> 0 and (c.castsource in (t.oid, t.typelem) or c.casttarget in (t.oid, t.typelem))
    )
),
