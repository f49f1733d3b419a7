/** Installs what only tests and checks use, before the npm scripts that run them. */
import { installPackages } from './install-packages.ts';

installPackages('test');
