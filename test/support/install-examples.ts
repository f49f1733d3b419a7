/** Installs the packages of all examples. */
import { installExample } from './install-example.ts';

for (const name of ['clients', 'email-links']) installExample(name);
