-- Which database of which cluster this is: equal on a primary and on what replicates it byte by byte, and nowhere else.
select s.system_identifier::text || '/' || d.oid as identity
from pg_catalog.pg_control_system() s, pg_catalog.pg_database d
where d.datname = pg_catalog.current_database()
