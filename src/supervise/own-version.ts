/** The version that bundles name as their writer. */
import { readFileSync } from 'node:fs';

export function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
