// The hook of load-typescript.mjs. Addresses stay those of the TypeScript.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { changedAt, compiledName } from './compile-tests.mjs';

const root = new URL('../../', import.meta.url).href;

export function load(url, context, next) {
  // A test may load a module anew by a query.
  const [address] = url.split('?');
  if (!address.startsWith(root) || !address.endsWith('.ts') || address.includes('/node_modules/'))
    return next(url, context);
  const path = fileURLToPath(address);
  const compiled = compiledName(path);
  if (changedAt(compiled) < changedAt(path))
    throw new Error(`${path} has changed since the tests were compiled`);
  return { format: 'module', source: readFileSync(compiled, 'utf8'), shortCircuit: true };
}
