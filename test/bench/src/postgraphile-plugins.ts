/**
 * PostGraphile's plugins for what the cases of related rows ask for: filters, orders by related rows, aggregates, and groups by
 * month, which a project adds to the hours and days of the aggregates itself.
 */

import { PgAggregatesPreset } from '@graphile/pg-aggregates';
import { PgOrderByRelatedPlugin } from '@graphile-contrib/pg-order-by-related';
import { sql, TYPES } from 'postgraphile/@dataplan/pg';
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter';

const groupsByMonth: GraphileConfig.Plugin = {
  name: 'GroupsByMonthPlugin',
  version: '1.0.0',
  after: ['PgAggregatesAggregateSpecsPlugin'],
  schema: {
    hooks: {
      build(build) {
        build.pgAggregateGroupBySpecs?.push({
          id: 'truncated-to-month',
          isSuitableType: (codec) => codec === TYPES.timestamptz,
          sqlWrap: (column) => sql`date_trunc('month', ${column}, 'UTC')`,
          sqlWrapCodec: (codec) => codec,
        });
        return build;
      },
    },
  },
};

/** All of them, with filters over relationships. */
export const relatedPreset: GraphileConfig.Preset = {
  extends: [PostGraphileConnectionFilterPreset, PgAggregatesPreset],
  plugins: [PgOrderByRelatedPlugin, groupsByMonth],
  schema: { connectionFilterRelations: true },
};
