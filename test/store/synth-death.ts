/** Bundles of deaths of one program, as in a dump folder. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { commonParts, synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

export interface SynthDeath {
  id?: string;
  at?: string;
  message?: string;
  release?: string;
  program?: string;
  host?: string;
  repeats?: number;
  verdictKind?: string;
}

export const randomId = (): string => randomBytes(8).toString('hex');

/** Returns its path. */
export function writeDeath(dir: string, death: SynthDeath = {}): string {
  const { id = randomId(), at = '2026-11-21T03:04:05.678Z', program = 'agent', verdictKind } = death;
  const common = commonParts();
  const trigger = { ...(common['trigger.json'] as object), id, at, program };
  const { error } = common['error.json'] as { error: { message: string; stack: string } };
  const { message = error.message } = death;
  const environment = common['environment.json'] as { variables: object; os: object };
  const parts = synthParts({
    'trigger.json': { ...trigger, ...(death.repeats !== undefined && { repeats: death.repeats }) },
    'error.json': {
      error: { ...error, message, stack: error.stack.replace(error.message, message) },
    },
    'environment.json': {
      variables: {
        ...environment.variables,
        ...(death.release !== undefined && { AGENTDUMP_RELEASE: { value: death.release } }),
      },
      os: { ...environment.os, ...(death.host !== undefined && { hostname: death.host }) },
    },
  });
  const time = at.replace(/[-:]/g, '');
  const kind = verdictKind ?? 'uncaught-exception';
  const name = `${time}-${program}-${kind}-${id.slice(0, 8)}.agentdump`;
  return writeBundle(join(dir, name), parts, { id, createdAt: at, program });
}
