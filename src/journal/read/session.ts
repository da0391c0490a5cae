/**
 * Reads session files and determines which processes are alive. A pid refers to the same process only with the same start
 * time, in the same pid namespace, since the same boot. If these can't be compared (the folder is shared by another container
 * or machine), only missed heartbeats are taken for a death. The contents of the file are not trusted.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { MalformedInput } from '../../errors.ts';
import { platform } from '../../platform/index.ts';
import { segmentSuffix } from '../layout/journal.ts';
import {
  type ProcessIdentity,
  type SessionFacts,
  type SessionFinding,
  sessionName,
  sessionSchema,
  sessionsFolder,
} from '../layout/session.ts';

export const sessionId = /^[0-9a-f]{16}$/;
const longestFile = 256 * 1024;
/** The number of missed heartbeats after which silence is taken for death. */
const missedHeartbeats = 5;
/** Clocks are adjusted, and ps only reports whole seconds. */
const clockSlackMs = 5_000;

/** Folders below `<dir>/sessions` that contain a session file, sorted by name; empty if the folder does not exist. */
export function listSessions(dir: string): string[] {
  const parent = join(dir, sessionsFolder);
  try {
    return readdirSync(parent)
      .filter((name) => sessionId.test(name))
      .sort()
      .map((name) => join(parent, name))
      .filter((folder) => statSync(join(folder, sessionName), { throwIfNoEntry: false })?.isFile());
  } catch {
    return [];
  }
}

/** Throws MalformedInput for anything other than a session file of a known shape. */
export function readSession(folder: string): SessionFacts {
  const path = join(folder, sessionName);
  if (statSync(path).size > longestFile) throw malformed('size', `at most ${longestFile} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw malformed('text', 'JSON', cause);
  }
  requireShape(value);
  return value;
}

/** What became of the session's process, as seen from this machine at this time. Never throws. */
export function classifySession(folder: string, facts: SessionFacts, nowMs = Date.now()): SessionFinding {
  const { pid, bootId, pidNamespace } = facts.process;
  if (facts.state === 'ended') return { fate: 'ended', because: `it said goodbye at ${facts.endedAt}` };
  if (bootId !== undefined && bootId !== currentBootId()) return classifyOtherBoot(folder, facts, nowMs);
  if (pidNamespace !== undefined && pidNamespace !== ownPidNamespace())
    return classifyBySilence(folder, facts, nowMs, `it ran in another pid namespace, ${pidNamespace}`);
  return (
    classifyByPid(facts.process) ??
    classifyByStart(facts) ?? { fate: 'alive', because: `process ${pid} runs` }
  );
}

function classifyOtherBoot(folder: string, facts: SessionFacts, nowMs: number): SessionFinding {
  if (facts.process.hostname !== hostname())
    return classifyBySilence(folder, facts, nowMs, `it ran on another machine, ${facts.process.hostname}`);
  return { fate: 'died', because: 'this machine was started anew since', rebooted: true };
}

/** Used if boot and start have no identifying numbers: a process that started later than the session is a different one. */
function classifyByStart({
  process: { pid, startTicks, bootId },
  startedAt,
}: SessionFacts): SessionFinding | undefined {
  if (startTicks !== undefined) return undefined;
  const openedMs = Date.parse(startedAt);
  if (bootId === undefined && openedMs < platform.bootedAtMs() - clockSlackMs)
    return { fate: 'died', because: 'this machine was started anew since', rebooted: true };
  const beganMs = platform.startedAtMs(pid);
  if (beganMs === undefined || beganMs <= openedMs + clockSlackMs) return undefined;
  const at = new Date(beganMs).toISOString();
  return { fate: 'died', because: `process ${pid} is another one now, started at ${at}`, pidReused: true };
}

/** For a process of this machine, boot and pid namespace. Undefined if it is alive. */
export function classifyByPid({ pid, startTicks }: ProcessIdentity): SessionFinding | undefined {
  const [state] = platform.processStat(pid) ?? [];
  const token = platform.startToken(pid);
  if (state === undefined)
    return platform.isThere(pid) ? undefined : { fate: 'died', because: `there is no process ${pid}` };
  if (startTicks !== undefined && token !== startTicks)
    return {
      fate: 'died',
      because: `process ${pid} is another one now, started at tick ${token}, not ${startTicks}`,
      pidReused: true,
    };
  const isDead = state === 'Z' || state === 'X';
  return isDead ? { fate: 'died', because: `process ${pid} is dead and not reaped yet` } : undefined;
}

function classifyBySilence(
  folder: string,
  facts: SessionFacts,
  nowMs: number,
  where: string,
): SessionFinding {
  const silentMs = nowMs - lastWriteMs(folder);
  const patience = facts.heartbeatMs * missedHeartbeats;
  if (patience > 0 && silentMs > patience)
    return { fate: 'died', because: `${where}, and has been silent for ${Math.round(silentMs / 1000)} s` };
  return { fate: 'elsewhere', because: `${where}: whether it lives can't be seen from here` };
}

/** The time when the journal or the session file was last written, in milliseconds since 1970. */
export function lastWriteMs(folder: string): number {
  let last = 0;
  for (const name of readdirSync(folder)) {
    if (name !== sessionName && !name.endsWith(segmentSuffix)) continue;
    last = Math.max(last, statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  }
  return last;
}

export const currentBootId = (): string | undefined => platform.bootId();

export const ownPidNamespace = (): string | undefined => platform.pidNamespace('self');

function requireShape(value: unknown): asserts value is SessionFacts {
  const facts = value as Partial<SessionFacts> | null;
  if (typeof facts !== 'object' || facts?.schema !== sessionSchema) throw malformed('schema', sessionSchema);
  if (facts.version !== 1) throw malformed('version', '1');
  if (typeof facts.id !== 'string' || !sessionId.test(facts.id))
    throw malformed('id', '16 hexadecimal digits');
  if (facts.state !== 'alive' && facts.state !== 'ended') throw malformed('state', 'alive or ended');
  const pid = facts.process?.pid;
  if (!Number.isSafeInteger(pid) || (pid as number) < 1) throw malformed('process.pid', 'a process id');
  for (const field of ['program', 'cwd', 'nodeVersion', 'startedAt'] as const)
    if (typeof facts[field] !== 'string') throw malformed(field, 'text');
  if (!Array.isArray(facts.command) || !facts.command.every((word) => typeof word === 'string'))
    throw malformed('command', 'a list of words');
  if (facts.supervisor !== undefined && typeof facts.supervisor !== 'string')
    throw malformed('supervisor', 'text');
  if (typeof facts.memory !== 'object' || facts.memory === null) throw malformed('memory', 'an object');
  if (typeof facts.heartbeatMs !== 'number' || !(facts.heartbeatMs >= 0))
    throw malformed('heartbeatMs', 'milliseconds');
}

function malformed(field: string, wanted: string, cause?: unknown): MalformedInput {
  return new MalformedInput(
    `the session file's ${field} is not ${wanted}`,
    { format: 'session', field, wanted },
    cause,
  );
}
