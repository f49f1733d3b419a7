-- Identifies this database of this cluster: equal on a primary and its physical replicas, and nowhere else.
select s.system_identifier::text || '/' || d.oid as identity
from pg_catalog.pg_control_system() s, pg_catalog.pg_database d
where d.datname = pg_catalog.current_database()
