/**
 * Saves a crash as a test: the recording, and a few lines that run the program with it. The test fails while the program dies
 * in the recorded way, and passes when it no longer does.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import type { Recording } from './recorded/recording.ts';

export interface SavedTest {
  dir: string;
  recording: Recording;
  command: readonly string[];
  runner: 'node:test' | 'vitest';
  /** Servers that receive real requests from the test. */
  live?: readonly string[];
  /** What is not compared in requests. */
  masks?: readonly string[];
}

/** Returns the paths of the test and of its recording. */
export function writeTest({
  dir,
  recording,
  command,
  runner,
  live = [],
  masks = [],
}: SavedTest): [test: string, recording: string] {
  const folder = resolve(dir);
  mkdirSync(folder, { recursive: true });
  const name = `crash-${recording.signature.id.replace(/[^\w]/g, '').slice(0, 8)}`;
  const recordingPath = join(folder, `${name}.recording.json`);
  const testPath = join(folder, `${name}.test.mjs`);
  // The recording is redacted, but contains the agent's conversation, so only the owner can read it until they share it.
  writeFileSync(recordingPath, `${JSON.stringify(recording)}\n`, { mode: 0o600 });
  writeFileSync(
    testPath,
    render(recording, name, relocated(command, folder), runner, relative(folder, process.cwd()), {
      live,
      masks,
    }),
  );
  return [testPath, recordingPath];
}

/** Node by name, so that the one that runs the test is used; paths of the program relative to the working directory. */
function relocated(command: readonly string[], folder: string): string[] {
  const [program = '', ...rest] = command;
  const words = rest.map((word) =>
    isAbsolute(word) && !relative(process.cwd(), word).startsWith('..')
      ? relative(process.cwd(), word)
      : word,
  );
  return [
    basename(program) === 'node' ? 'node' : isAbsolute(program) ? relative(folder, program) : program,
    ...words,
  ];
}

function render(
  { title }: Recording,
  name: string,
  command: readonly string[],
  runner: SavedTest['runner'],
  cwd: string,
  lists: Record<string, readonly string[]>,
): string {
  const words = command.map((word) => (word === 'node' ? 'process.execPath' : quoted(word))).join(', ');
  const options = Object.entries(lists)
    .filter(([, items]) => items.length > 0)
    .map(([option, items]) => `\n    ${option}: [${items.map(quoted).join(', ')}],`);
  return `// Written by agentdump replay --save-test. Fails while the program dies as it did in the recording.
import assert from 'node:assert/strict';
import { test } from '${runner}';
import { replayRecording } from 'agentdump/replay';

test(${quoted(`no longer: ${title}`)}, async () => {
  const result = await replayRecording(new URL('./${name}.recording.json', import.meta.url), {
    command: [${words}],
    cwd: new URL('./${cwd ? `${cwd}/` : ''}', import.meta.url),${options.join('')}
  });
  assert.ok(result.isFixed, result.report);
}${runner === 'vitest' ? ', 60_000' : ''});
`;
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
}
