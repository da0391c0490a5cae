/** The name by which a person knows the program, without secrets. */
import { publicName } from '../../redaction/public-name.ts';
import { plainName } from './plain-name.ts';

/** From `process.argv`: `['node', '/srv/agent/dist/index.js']` → `agent`. */
export function programName(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): string {
  return publicName(plainName(argv, environment));
}
