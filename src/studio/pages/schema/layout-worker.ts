/**
 * Lays schemas out beside the page, which stays quick: hundreds of tables take seconds.
 */
import { layoutGraph } from './layout-graph.ts';
import type { DrawnSchema } from './neighborhood.ts';

addEventListener('message', ({ data: { tables, relationships } }: MessageEvent<DrawnSchema>) => {
  postMessage(layoutGraph(tables, relationships));
});
