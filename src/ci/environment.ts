/**
 * Detects the CI service from its variables, and when it will kill the job. Sources: the services' lists of predefined
 * variables. GitHub, Azure and Jenkins don't provide the limit, so there it must be configured.
 */
export type CiService = 'github' | 'gitlab' | 'azure' | 'jenkins' | 'other';

type Environment = Readonly<Record<string, string | undefined>>;

export function detectService(environment: Environment): CiService {
  if (environment['GITHUB_ACTIONS'] === 'true') return 'github';
  if (environment['GITLAB_CI'] === 'true') return 'gitlab';
  if (environment['TF_BUILD']?.toLowerCase() === 'true') return 'azure';
  if (environment['JENKINS_URL']) return 'jenkins';
  return 'other';
}

/** How long before the end of the job dumping begins. */
const marginMs = 60_000;

/**
 * Milliseconds from now until the run should be stopped, so that a bundle is written before the service kills the job;
 * undefined if no limit is known. The variable AGENTDUMP_CI_JOB_LIMIT (a duration with a unit) has priority.
 */
export function timeLeftMs(environment: Environment, nowMs = Date.now()): number | undefined {
  const own = readDuration(environment['AGENTDUMP_CI_JOB_LIMIT'] ?? '');
  const limitMs = own ?? serviceLimitMs(environment);
  if (limitMs === undefined) return undefined;
  const startedMs = Date.parse(environment['CI_JOB_STARTED_AT'] ?? '');
  const goneMs = own === undefined && startedMs <= nowMs ? nowMs - startedMs : 0;
  const leftMs = limitMs - goneMs;
  return Math.max(1_000, leftMs - Math.min(marginMs, leftMs / 4));
}

/** GitLab's limit is in seconds, Buildkite's in minutes (or `false` for none). */
function serviceLimitMs(environment: Environment): number | undefined {
  const seconds = Number(environment['CI_JOB_TIMEOUT']);
  if (seconds > 0) return seconds * 1_000;
  const minutes = Number(environment['BUILDKITE_TIMEOUT']);
  return minutes > 0 ? minutes * 60_000 : undefined;
}

/** Parses `90s`, `5m`, `1.5h`, `500ms`; a number without a unit is seconds. Undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const ms = Number(digits) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit as 'ms' | 's' | 'm' | 'h'];
  return ms > 0 ? ms : undefined;
}
