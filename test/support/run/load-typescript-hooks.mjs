// The hook of load-typescript.mjs.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compiledName } from './compile-tests.mjs';

const root = new URL('../../..', import.meta.url).href;

export function resolve(specifier, context, next) {
  const isOurs =
    specifier.startsWith(root) && specifier.endsWith('.ts') && !specifier.includes('/node_modules/');
  return next(isOurs ? pathToFileURL(compiledName(fileURLToPath(specifier))).href : specifier, context);
}
