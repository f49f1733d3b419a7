-- Home of the extensions of the database, as on hosted projects.
create schema extensions;
comment on schema extensions is 'pgreflect init --supabase: extensions of the database';
