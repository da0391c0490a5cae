/** Pauses a replay for a person: before the reply that `--until` names, or the last one; optionally in a debugger. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { AgentdumpError } from '../errors.ts';
import { HeldProgram } from '../replay/held-program.ts';
import { findPausePoint, listPausePoints } from '../replay/pause-point.ts';
import type { Recording } from '../replay/recorded/recording.ts';
import type { ReplayOptions } from '../replay/replay.ts';
import { note } from './output/output.ts';

interface Wish {
  until?: string | undefined;
  inspect?: boolean | undefined;
}

/** Undefined if no pause is requested. Throws `usage` for a step that is not in the recording. */
export function pauseBefore(recording: Recording, { until, inspect }: Wish): ReplayOptions['beforeReply'] {
  if (until === undefined && !inspect) return undefined;
  const wanted = findPausePoint(recording, until);
  if (!wanted)
    throw new AgentdumpError(
      'usage',
      `no recorded model call is, belongs to, or comes before ${until ?? 'anything'}`,
      {
        argument: 'until',
        known: listPausePoints(recording),
      },
    );
  return async (call, _place, pid) => {
    if (call !== wanted.id) return 'go-on';
    if (inspect) await holdInDebugger(call, pid, recording.title);
    else note(`stopped before the reply to call ${call}`);
    return inspect ? 'go-on' : 'stop';
  };
}

/** The program waits for a reply; afterwards it stops once more, where the recorded error is thrown. */
async function holdInDebugger(call: string, pid: number | undefined, title: string): Promise<void> {
  const held = pid === undefined ? undefined : await HeldProgram.open(pid);
  if (!held)
    return note(`process ${pid} did not open its inspector: going on before the reply to call ${call}`);
  note(
    `waiting before the reply to call ${call}, in process ${pid}: attach a debugger, set breakpoints, then go on`,
  );
  note(`  node inspect ${held.address}, or chrome://inspect, or ${held.url}`);
  note('it goes on to where the recorded error is thrown, and stops there');
  await pressEnter();
  await held.stopAtThrow(title, async (where, goesOn) => {
    note(`paused at the throw of ${where}`);
    await pressEnter(goesOn);
  });
}

async function pressEnter(unless?: AbortSignal): Promise<void> {
  if (process.stdin.readableEnded) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const options = unless ? { signal: unless } : {};
  // If stdin is not a terminal, it ends at once.
  await Promise.race([
    terminal.question('agentdump: press Enter to go on ', options).catch(() => {}),
    once(terminal, 'close'),
  ]);
  terminal.close();
}
