/**
 * Checks the model's age: expressions of the settings statement that fail on purpose if the catalog or a role
 * membership changed since the model was read.
 */
import { staleMarker } from '../database-error.ts';

/** The state that a model was read from. */
export interface Freshness {
  readonly snapshot: string;
  /** Null: do not compare memberships. */
  readonly memberships: string | null;
}

/**
 * An expression for the state of all role memberships, a number as text. Event triggers do not fire on `grant role`, so
 * the model stores this and the flight compares it.
 */
export const membershipsExpression = `(select (pg_catalog.count(*)::pg_catalog.numeric operator(pg_catalog.+)
  coalesce(pg_catalog.sum(m.xmin::pg_catalog.text::pg_catalog.int8), 0::pg_catalog.numeric))::pg_catalog.text
  from pg_catalog.pg_auth_members m)`;

/**
 * Fails on purpose if the catalog has a committed change that the model's snapshot ($8) did not see. The cast text
 * contains a column: a constant would be evaluated, and fail, before any row is read. The second condition ignores rows
 * from a restored dump.
 */
export const staleCatalog = `(select ('${staleMarker}'::pg_catalog.text operator(pg_catalog.||) c.xid::pg_catalog.text)::pg_catalog.int4
        from pgreflect.catalog_change c
        where c.xid operator(pg_catalog.>=) pg_catalog.pg_snapshot_xmin($8::pg_catalog.pg_snapshot)
          and c.xid operator(pg_catalog.<) pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
          and not pg_catalog.pg_visible_in_snapshot(c.xid, $8::pg_catalog.pg_snapshot)
        limit 1)`;

/** The same for changed role memberships ($9). */
export const staleMemberships = `(select ('${staleMarker}memberships '::pg_catalog.text operator(pg_catalog.||) v.version)::pg_catalog.int4
        from (select ${membershipsExpression} as version) v
        where v.version operator(pg_catalog.<>) $9::pg_catalog.text)`;
