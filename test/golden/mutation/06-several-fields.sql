insert into "lib"."volume" as "t1" ("shelf_mark") values ($1::"pg_catalog"."text") returning "t1"."shelf_mark";
update "lib"."volume" as "t1" set "title" = $1::"pg_catalog"."varchar"(40) where ("t1"."shelf_mark" operator(pg_catalog.=) $2::"pg_catalog"."text") returning "t1"."title";
delete from "lib"."volume" as "t1" where ("t1"."shelf_mark" operator(pg_catalog.=) $1::"pg_catalog"."text") returning "t1"."title";
select case when pg_catalog.octet_length(d."t") operator(pg_catalog.>) 16777216 then (('pgreflect:too_large:' operator(pg_catalog.||) pg_catalog.octet_length(d."t"))::pg_catalog.int4)::pg_catalog.text else d."t" end from (select v."j"::pg_catalog.text as "t" from (select coalesce(pg_catalog.to_json('Mutation'::pg_catalog.text), 'null'::pg_catalog.json)) as v("j") offset 0) as d;
