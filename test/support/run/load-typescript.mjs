// Loads what compile-tests.mjs has compiled in the place of src and test's TypeScript. Stacks name the TypeScript.
import * as module from 'node:module';
import { load, resolve } from './load-typescript-hooks.mjs';

process.setSourceMapsEnabled(true);
// From Node 22.15 on without a thread for it.
if (module.registerHooks) module.registerHooks({ load, resolve });
else module.register('./load-typescript-hooks.mjs', import.meta.url);
