/** `agentdump/replay`: the API that saved tests use. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Mask } from '../agent/calls/masks.ts';
import { parseRecording } from './recorded/recording-file.ts';
import { type ReplayOptions, type ReplayResult, replay } from './replay.ts';
import { isFixed, renderReplay } from './result.ts';

export type { Mask };

export interface ReplayWish
  extends Partial<Pick<ReplayOptions, 'onMismatch' | 'realClock' | 'live' | 'masks' | 'hold'>> {
  command: readonly string[];
  cwd?: string | URL;
}

export interface ReplayReport extends ReplayResult {
  /** The recorded death did not occur. */
  isFixed: boolean;
  /** The result as text, with the notes made during the replay. */
  report: string;
}

/**
 * Runs a program with a recording made by `agentdump replay --save-test`. Throws if the recording can't be read or the
 * program can't be started.
 */
export async function replayRecording(
  file: string | URL,
  { command, cwd, ...options }: ReplayWish,
): Promise<ReplayReport> {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const recording = parseRecording(readFileSync(path, 'utf8'), path);
  const notes: string[] = [];
  const result = await replay({
    onMismatch: 'stop',
    isQuiet: true,
    ...options,
    recording,
    command,
    note: (text) => notes.push(text),
    ...(cwd !== undefined && { cwd: cwd instanceof URL ? fileURLToPath(cwd) : cwd }),
  });
  return {
    ...result,
    isFixed: isFixed(result),
    report: [renderReplay(result, recording), ...notes].join('\n'),
  };
}
