-- The end of a primary's write-ahead log, after the last inserted record, written or not. All that is visible now is before it.
--
-- At the start of a page, the server includes the header of that page, which replicas replay only with its first record. So the header
-- is subtracted: 40 bytes on the first page of a segment, 24 on others.
-- All names are qualified: after a mutation's flight, it runs with the search path of the login.
select (i.position operator(pg_catalog.-) case
          when pg_catalog.mod(i.bytes, pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size'))::numeric) operator(pg_catalog.=) 40::numeric then 40::numeric
          when pg_catalog.mod(i.bytes, pg_catalog.current_setting('wal_block_size')::numeric) operator(pg_catalog.=) 24::numeric then 24::numeric
          else 0::numeric
        end)::pg_catalog.text as position
from (select p.position, pg_catalog.pg_wal_lsn_diff(p.position, '0/0') as bytes
      from (select pg_catalog.pg_current_wal_insert_lsn() as position) p) i
