// Runs what compile-tests.mjs has made of src and test in the place of their TypeScript. Test files are started as what they were
// compiled to, which imports nothing else. A thread that is started with the TypeScript of a module
// (src/formats/heapsnapshot/thread.ts) loads this file with a query; it, and a child that a test starts with its own options and
// code that imports TypeScript, are led to what that was compiled to.
import * as module from 'node:module';
import { setFlagsFromString } from 'node:v8';

const isTestFile = process.argv[1]?.includes('/.tests/') && new URL(import.meta.url).search === '';
if (!isTestFile) {
  const hooks = './load-typescript-hooks.mjs';
  // From Node 22.15 on without another thread for it.
  if (module.registerHooks) module.registerHooks(await import(hooks));
  else module.register(hooks, import.meta.url);
} else if (process.versions.v8.startsWith('11.')) {
  // Bytecode that a function of Node 20 executes before V8 optimizes it, by default 66 KB. A test file ends soon after: that
  // took up to half of its processor time. Not an argument of Node, which children would inherit.
  setFlagsFromString('--interrupt-budget=500000');
}
