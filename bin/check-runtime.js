/**
 * Stops `npm start` and `npm test` with a clear word where the Node on the path cannot run TypeScript.
 * Inside npm scripts the pinned Node comes first on the path, so this speaks only where that one is missing.
 */
import { missingRuntimeMessage, runtimeIsEnough } from './runtime.js';

if (!runtimeIsEnough()) {
  process.stderr.write(missingRuntimeMessage);
  process.exitCode = 1;
}
