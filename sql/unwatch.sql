-- Removes the objects of watch.sql. The namespace stays if it has others.

drop event trigger if exists pgreflect_ddl;
drop event trigger if exists pgreflect_drop;
drop function if exists pgreflect.note_catalog_change();
drop table if exists pgreflect.catalog_change;

do $body$
begin
  drop schema if exists pgreflect restrict;
exception
  when dependent_objects_still_exist then null;
end $body$;
