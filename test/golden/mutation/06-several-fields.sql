insert into "lib"."volume" as "t1" ("shelf_mark") values ($1::"pg_catalog"."text") returning "t1"."shelf_mark";
update "lib"."volume" as "t1" set "title" = $1::"pg_catalog"."varchar"(40) where ("t1"."shelf_mark" operator(pg_catalog.=) $2::"pg_catalog"."text") returning "t1"."title", case when pg_catalog.array_fill((null::"lib"."volume")."title", '{1}'::pg_catalog.int4[]) operator(pg_catalog.&&) null::"pg_catalog"."varchar"[] then 0 end;
delete from "lib"."volume" as "t1" where ("t1"."shelf_mark" operator(pg_catalog.=) $1::"pg_catalog"."text") returning "t1"."title", case when pg_catalog.array_fill((null::"lib"."volume")."title", '{1}'::pg_catalog.int4[]) operator(pg_catalog.&&) null::"pg_catalog"."varchar"[] then 0 end;
select pg_catalog.to_json('Mutation'::pg_catalog.text);
