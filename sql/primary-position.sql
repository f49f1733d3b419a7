-- Where the write-ahead log of a primary ends, and which database this is.
--
-- The position after what was inserted last, also where that has not been written yet: what is visible now is before it.
-- Where the next record would open a page, the server counts the page's header in, which no replica replays before there
-- is such a record; so it is taken off: 40 bytes on the first page of a segment, 24 on the others.
-- Every name has its schema: behind a mutation's flight it runs with the search path of the login.
select (i.position operator(pg_catalog.-) case
          when pg_catalog.mod(i.bytes, pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size'))::numeric) operator(pg_catalog.=) 40::numeric then 40::numeric
          when pg_catalog.mod(i.bytes, pg_catalog.current_setting('wal_block_size')::numeric) operator(pg_catalog.=) 24::numeric then 24::numeric
          else 0::numeric
        end)::pg_catalog.text as position
from (select p.position, pg_catalog.pg_wal_lsn_diff(p.position, '0/0') as bytes
      from (select pg_catalog.pg_current_wal_insert_lsn() as position) p) i
