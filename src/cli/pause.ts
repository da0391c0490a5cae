/** Where a replay stops for a person: before the reply that `--until` names, or the last one, perhaps in a debugger. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { AgentdumpError } from '../errors.ts';
import type { Recording } from '../replay/recording.ts';
import type { ReplayOptions } from '../replay/replay.ts';
import { note } from './output.ts';

interface Wish {
  until?: string | undefined;
  inspect?: boolean | undefined;
}

/** undefined when nobody wants to stop. Throws `usage` for a step that the recording has not. */
export function pauseBefore({ calls }: Recording, { until, inspect }: Wish): ReplayOptions['beforeReply'] {
  if (until === undefined && !inspect) return undefined;
  const wanted =
    until === undefined
      ? calls.at(-1)
      : calls.find((call) => call.id === until || call.place.includes(until));
  if (!wanted)
    throw new AgentdumpError('usage', `no recorded model call is, or belongs to, ${until ?? 'anything'}`, {
      argument: 'until',
      known: calls.map(({ id, place }) => [id, ...place].join(' ')),
    });
  return async (call, _place, pid) => {
    if (call !== wanted.id) return 'go-on';
    if (!inspect) {
      note(`stopped before the reply to call ${call}`);
      return 'stop';
    }
    if (pid !== undefined) process.kill(pid, 'SIGUSR1');
    note(
      `waiting before the reply to call ${call}: attach a debugger to process ${pid} (node inspect -p ${pid}, or chrome://inspect)`,
    );
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    // Without a terminal its end comes at once.
    await Promise.race([terminal.question('agentdump: press Enter to go on '), once(terminal, 'close')]);
    terminal.close();
    return 'go-on';
  };
}
