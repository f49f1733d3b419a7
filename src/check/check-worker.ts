/**
 * The thread of one check: options in, findings out. Reading a large schema would hold up the requests of the process, and what a
 * check has loaded is gone with its thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createSystemPool } from '../postgres/system/run-system.ts';
import { findFindings } from './find-findings.ts';
import type { CheckOfWorker } from './open-check.ts';

const { options, connectionString } = workerData as CheckOfWorker;
// Of its own: a check must not take connections from the gateway.
const pool = createSystemPool({
  connectionString,
  size: 1,
  waitMs: 10_000,
  applicationName: 'pgreflect check',
  onError: () => {},
});
const findings = await findFindings(pool, options).finally(() => pool.stop());
parentPort!.postMessage(findings);
