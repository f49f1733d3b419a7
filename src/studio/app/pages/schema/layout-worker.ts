/** Computes the layout in a worker, so that the page stays responsive: hundreds of tables take seconds. */
import { layoutGraph } from './layout-graph.ts';
import type { DrawnSchema } from './neighborhood.ts';

addEventListener('message', ({ data: { tables, relationships } }: MessageEvent<DrawnSchema>) => {
  postMessage(layoutGraph(tables, relationships));
});
