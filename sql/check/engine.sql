-- What tells one server from another (src/postgres/engine.ts): one row. Other programs than PostgreSQL answer it, too.
select pg_catalog.version() as version,
  array(select e.extname::pg_catalog.text from pg_catalog.pg_extension e) as extensions,
  array(select r.rolname::pg_catalog.text from pg_catalog.pg_roles r
    where r.rolname in ('rds_superuser', 'alloydbsuperuser', 'cloudsqlsuperuser', 'azure_pg_admin', 'neon_superuser', 'supabase_admin')) as roles,
  array(select p.proname::pg_catalog.text from pg_catalog.pg_proc p where p.proname = 'aurora_version') as functions
