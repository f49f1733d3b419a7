select "p1"."c1" from (select "t3"."id" as "c1" from "lib"."tie" as "t3" where false order by "t3"."id" asc nulls last limit 31) as "p1";
