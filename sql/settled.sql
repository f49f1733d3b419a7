-- Counts transactions that are committed for `pgreflect.snapshot` but have not sent their invalidation messages yet: a commit becomes
-- visible a moment earlier. The oldest lock of a process belongs to its outermost transaction; the others belong to subtransactions,
-- which snapshots do not list. Waits a moment if there are any.
with taken as materialized (
  select s.snapshot, pg_catalog.pg_snapshot_xmax(s.snapshot)::pg_catalog.text::pg_catalog.int8 as next
  from (select pg_catalog.current_setting('pgreflect.snapshot')::pg_catalog.pg_snapshot as snapshot) s
),
held as (
  -- Locks have 32-bit numbers: converted by their distance from the first transaction that the snapshot cannot see.
  select k.virtualtransaction, (s.next - k.transactionid::pg_catalog.text::pg_catalog.int8) & 4294967295 as distance
  from taken s, pg_catalog.pg_locks k
  where k.locktype = 'transactionid' and k.granted and k.mode = 'ExclusiveLock'
),
outermost as (
  select max(h.distance) as distance from held h where h.distance between 1 and 2147483647 group by h.virtualtransaction
)
select count(*)::pg_catalog.int4 as committing, case when count(*) > 0 then pg_catalog.pg_sleep(0.005)::pg_catalog.text end as waited
from taken s
join outermost o on pg_catalog.pg_visible_in_snapshot((s.next - o.distance)::pg_catalog.text::pg_catalog.xid8, s.snapshot)
