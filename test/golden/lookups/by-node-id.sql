select "t1"."full_name" from "lib"."patron" as "t1" where "t1"."id" operator(pg_catalog.=) $1::"pg_catalog"."int8";
