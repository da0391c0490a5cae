/**
 * Sets up what only a parent can give to a program before it starts: the preload through NODE_OPTIONS, a private folder for
 * Node's fatal-error report, the session's name. Values set by the user are kept and come first.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sessionVariable, withheldVariable } from '../journal/layout/session.ts';

export interface Arming {
  /** The dump folder, absolute. */
  dir: string;
  sessionId: string;
  /** Folder for Node's fatal-error report; undefined for no report. */
  diagnostics: string | undefined;
  /** Variables for this run only, unless the user has set them. */
  extra: Record<string, string>;
  /** The variable with the path of the file that the program touches as a sign of life. */
  heartbeat?: Record<string, string>;
  /** Variables that make the program wait at a fault until this process has read it. */
  hold?: Record<string, string>;
  /** Key with which the program encrypts the values that it withholds. */
  withheldKey?: string;
  /** Replaces the usual preload, which it loads itself. */
  preload?: string;
  /** Additional Node options. */
  nodeOptions?: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The built preload; does not exist in an unbuilt source tree. */
export const preloadFile = fileURLToPath(new URL('../register.cjs', import.meta.url));
/** The preload for the processes of a test run. */
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

/** The user's options come first, so that preloads named in them are loaded before ours and are not affected by it. */
export function armNodeOptions(
  given: string | undefined,
  diagnostics: string | undefined,
  preload: string | undefined,
): string {
  const options = given ? [given] : [];
  const isThere = [preloadFile, testsPreloadFile].some((path) => given?.includes(path));
  if (preload !== undefined && !isThere && !namesOurs(given)) options.push('--require', quote(preload));
  // A report location chosen by the user is kept.
  if (diagnostics !== undefined && !/--report-(?:dir|directory|on-fatalerror|filename)\b/.test(given ?? ''))
    options.push('--report-on-fatalerror', `--report-directory=${quote(diagnostics)}`);
  return options.join(' ');
}

function namesOurs(given: string | undefined): boolean {
  return /(?:^|[\s="/\\])agentdump\/register/.test(given ?? '');
}

/** NODE_OPTIONS supports double quotes, within which a backslash escapes (Node's CLI documentation). */
function quote(path: string): string {
  return /[\s"\\]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;
}
