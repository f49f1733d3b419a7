-- Who can log in and act as some roles, beside those that are known to: members and administrators of each, and theirs.
--
-- $1: json with roles, known (names that are left out), operators (left out with everybody who may act as them). Superusers are
-- left out, too. One row per holder: holder, roles (array of names), direct (those of them that it is a member of itself).
with recursive asked (oid, name) as (
  select r.oid, r.rolname::text
  from pg_catalog.json_array_elements_text($1::json -> 'roles') e join pg_catalog.pg_roles r on r.rolname = e.value
),
holds (role, holder) as (
  select a.oid, a.oid from asked a
  union
  select h.role, m.member
  from holds h
  join pg_catalog.pg_auth_members m on m.roleid = h.holder
  join pg_catalog.pg_roles r on r.oid = m.member and not r.rolsuper
  where r.rolname not in (select o.value from pg_catalog.json_array_elements_text($1::json -> 'operators') as o)
)
select r.rolname::text as holder, pg_catalog.array_agg(distinct a.name) as roles, coalesce(
    pg_catalog.array_agg(distinct a.name) filter (where exists (
      select from pg_catalog.pg_auth_members m where m.roleid = h.role and m.member = h.holder)), '{}') as direct
from holds h
join asked a on a.oid = h.role
join pg_catalog.pg_roles r on r.oid = h.holder and r.rolcanlogin
where h.holder <> h.role
  and r.rolname not in (select k.value from pg_catalog.json_array_elements_text($1::json -> 'known') as k)
group by r.rolname
order by r.rolname
