/**
 * Stops `npm start` and `npm test` with a clear word where the packages are missing, or the Node on the path cannot run TypeScript.
 * Inside npm scripts the pinned Node comes first on the path, so an older one means that it is missing.
 */
import { missingPackagesMessage, missingRuntimeMessage, runtimeIsEnough } from './runtime.js';

const message = missingPackagesMessage() ?? (runtimeIsEnough() ? null : missingRuntimeMessage());
if (message !== null) {
  process.stderr.write(message);
  process.exitCode = 1;
}
