/** Effects outside of the network that the program had again in a replay, because nothing recorded takes their place. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { EffectKind, SeenEffect } from '../replayed/plan.ts';

export interface RepeatedEffect extends SeenEffect {
  count: number;
}

/** The effects that the replayed processes have appended to `file`, equal ones together, in the order of their first. */
export function readEffects(file: string, cwd: string): RepeatedEffect[] {
  const effects = new Map<string, RepeatedEffect>();
  for (const line of linesOf(file)) {
    const seen = parse(line);
    if (!seen) continue;
    const effect = { ...seen, ...(seen.place && { place: shortened(seen.place, cwd) }) };
    const key = JSON.stringify(effect);
    const before = effects.get(key);
    if (before) before.count++;
    else effects.set(key, { ...effect, count: 1 });
  }
  return [...effects.values()];
}

const nouns: Record<EffectKind, [one: string, many: string]> = {
  files: ['change of a file', 'changes of files'],
  commands: ['child process', 'child processes'],
  mcp: ['call of an MCP tool', 'calls of MCP tools'],
};

/** One line for the terminal; undefined if nothing was repeated. */
export function warnOfEffects(effects: readonly RepeatedEffect[]): string | undefined {
  const counts = new Map<EffectKind, number>();
  for (const { kind, count, isHeld } of effects)
    if (!isHeld) counts.set(kind, (counts.get(kind) ?? 0) + count);
  if (counts.size === 0) return undefined;
  const parts = [...counts].map(([kind, count]) => `${count} ${nouns[kind][count === 1 ? 0 : 1]}`);
  return `the replay had effects again: ${parts.join(', ')} (--hold ${[...counts.keys()].join(' ')} stops before them)`;
}

/** At most `most` lines for the report. */
export function renderEffects(effects: readonly RepeatedEffect[], most = 20): string[] {
  const repeated = effects.filter(({ isHeld }) => !isHeld);
  const lines = repeated.slice(0, most).map((effect) => `  repeated   ${describe(effect)}`);
  if (repeated.length > most) lines.push(`             and ${repeated.length - most} others`);
  return lines;
}

export function describe({ action, name, place, count }: RepeatedEffect): string {
  return `${action} ${name}${place ? ` at ${place}` : ''}${count > 1 ? ` (${count} times)` : ''}`;
}

function shortened(place: string, cwd: string): string {
  const path = relative(cwd, place.replace(/^file:\/\//, ''));
  return path.startsWith('..') ? place : path;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** A process that was killed may have left half a line. */
function parse(line: string): SeenEffect | undefined {
  try {
    return JSON.parse(line) as SeenEffect;
  } catch {
    return undefined;
  }
}
