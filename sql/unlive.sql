-- Removes the objects of live.sql, with the triggers on all tables.

drop function if exists pgreflect.note_live_change() cascade;
drop function if exists pgreflect.prune_live_change();
drop table if exists pgreflect.live_change, pgreflect.live_mark, pgreflect.live_schema;
