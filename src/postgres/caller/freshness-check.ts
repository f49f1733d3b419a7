/**
 * The check of the model's age: expressions of the settings statement that fail on purpose where the catalog, or who belongs to
 * which role, has changed since the model was read.
 */
import { staleMarker } from '../failure.ts';

/** What a model was made from. */
export interface Freshness {
  readonly snapshot: string;
  /** Null: memberships are not compared. */
  readonly memberships: string | null;
}

/**
 * An expression for the state of all role memberships, a number as text. Event triggers do not see `grant role`, so the
 * model remembers this and the flight compares it.
 */
export const membershipsExpression = `(select (pg_catalog.count(*)::pg_catalog.numeric operator(pg_catalog.+)
  coalesce(pg_catalog.sum(m.xmin::pg_catalog.text::pg_catalog.int8), 0::pg_catalog.numeric))::pg_catalog.text
  from pg_catalog.pg_auth_members m)`;

/**
 * Fails on purpose where the catalog has a committed change that the model's snapshot ($8) could not see. The text that
 * is cast contains a column: a constant would be computed, and fail, before any row is looked at. The second condition
 * ignores rows that came with a restored dump.
 */
export const staleCatalog = `(select ('${staleMarker}'::pg_catalog.text operator(pg_catalog.||) c.xid::pg_catalog.text)::pg_catalog.int4
        from pgreflect.catalog_change c
        where c.xid operator(pg_catalog.>=) pg_catalog.pg_snapshot_xmin($8::pg_catalog.pg_snapshot)
          and c.xid operator(pg_catalog.<) pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
          and not pg_catalog.pg_visible_in_snapshot(c.xid, $8::pg_catalog.pg_snapshot)
        limit 1)`;

/** The same where role memberships have changed ($9). */
export const staleMemberships = `(select ('${staleMarker}memberships '::pg_catalog.text operator(pg_catalog.||) v.version)::pg_catalog.int4
        from (select ${membershipsExpression} as version) v
        where v.version operator(pg_catalog.<>) $9::pg_catalog.text)`;
