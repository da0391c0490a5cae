// The hook of load-typescript.mjs. Addresses stay those of the TypeScript.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { changedAt, compiledName } from './compile-tests.mjs';

const root = new URL('../../..', import.meta.url).href;

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

/** What a file of ours imports by its path is there, without the search of Node's own resolver. */
export function resolve(specifier, context, next) {
  const from = context.parentURL;
  if (!/^\.{1,2}\/[^?]*\.ts$/.test(specifier) || !from?.startsWith(root) || from.includes('/node_modules/'))
    return next(specifier, context);
  return { url: new URL(specifier, from).href, format: 'module', shortCircuit: true };
}
