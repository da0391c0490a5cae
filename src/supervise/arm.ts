/**
 * What only a parent can give to a program before it starts: the preload through NODE_OPTIONS, Node's fatal report in
 * a private folder, the session's name, the core limit. What the user has set stays as it is and comes first.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sessionVariable, withheldVariable } from '../journal/layout/session.ts';

export interface Arming {
  /** The dump folder, absolute. */
  dir: string;
  sessionId: string;
  /** For Node's fatal report; undefined for none. */
  diagnostics: string | undefined;
  /** Variables for this run only, where the user has not set them. */
  extra: Record<string, string>;
  /** Names the file that the program touches as a sign of life. */
  heartbeat?: Record<string, string>;
  /** Has the program stand still at a fault until this process has read it. */
  hold?: Record<string, string>;
  /** Under which the program hands over the values that it withholds. */
  withheldKey?: string;
  /** In the place of the usual preload, which it loads. */
  preload?: string;
  /** Further options of Node. */
  nodeOptions?: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The preload as it is built; absent in a source tree that was not. */
export const preloadFile = fileURLToPath(new URL('../register.cjs', import.meta.url));
/** The same for the processes of a test run. */
export const testsPreloadFile = fileURLToPath(new URL('../register-tests.cjs', import.meta.url));

export function armEnvironment(environment: Environment, arming: Arming): Record<string, string | undefined> {
  return {
    ...arming.extra,
    ...environment,
    ...arming.heartbeat,
    ...arming.hold,
    AGENTDUMP_DIR: arming.dir,
    [sessionVariable]: arming.sessionId,
    ...(arming.withheldKey !== undefined && { [withheldVariable]: arming.withheldKey }),
    NODE_OPTIONS: [
      armNodeOptions(
        environment['NODE_OPTIONS'],
        arming.diagnostics,
        [arming.preload ?? preloadFile].find((path) => existsSync(path)),
      ),
      ...(arming.nodeOptions ?? []),
    ].join(' '),
  };
}

/** The user's options first, so that the preloads that they name are loaded before ours and see what they always saw. */
export function armNodeOptions(
  given: string | undefined,
  diagnostics: string | undefined,
  preload: string | undefined,
): string {
  const options = given ? [given] : [];
  const isThere = [preloadFile, testsPreloadFile].some((path) => given?.includes(path));
  if (preload !== undefined && !isThere && !namesOurs(given)) options.push('--require', quote(preload));
  // Who has chosen a place for the reports wants them there.
  if (diagnostics !== undefined && !/--report-(?:dir|directory|on-fatalerror|filename)\b/.test(given ?? ''))
    options.push('--report-on-fatalerror', `--report-directory=${quote(diagnostics)}`);
  return options.join(' ');
}

function namesOurs(given: string | undefined): boolean {
  return /(?:^|[\s="/\\])agentdump\/register/.test(given ?? '');
}

/** NODE_OPTIONS knows double quotes, in which a backslash escapes (Node's CLI documentation). */
function quote(path: string): string {
  return /[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;
}
