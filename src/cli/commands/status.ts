/** `agentdump status`: what runs here, how often it was started again, and the last deaths. */
import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { readStatus, type Status, type Supervised } from '../../supervise/run/status.ts';
import { printForeign, printJson } from '../output.ts';

const command: CommandModule = {
  command: 'status',
  describe: 'Show supervised programs, their restarts and their last deaths',
  builder: {
    dir: {
      type: 'string',
      describe: 'Dump folder',
      default: process.env['AGENTDUMP_DIR'] || '.agentdump',
    },
    json: { type: 'boolean', describe: 'Print JSON', default: false },
  },
  handler: (words) => {
    const dir = resolve(String(words['dir']));
    const status = readStatus(dir);
    if (words['json']) printJson(status);
    else printForeign(renderStatus(status));
  },
};
export default command;

function renderStatus({ programs, supervised }: Status): string {
  const lines = programs.map(
    ({ program, pid, fate, startedAt, because }) =>
      `${program}  pid ${pid}  ${fate}  since ${startedAt}  (${because})`,
  );
  if (programs.some(({ fate }) => fate === 'died'))
    lines.push('', '`agentdump sweep` makes bundles of those that died.');
  for (const one of supervised) lines.push('', ...renderSupervised(one));
  return lines.length ? lines.join('\n').trim() : 'Nothing has run here.';
}

function renderSupervised(one: Supervised): string[] {
  const state = one.running ? 'supervised' : one.crashLoop ? 'given up' : 'over';
  const restarts = `${one.restarts} restart${one.restarts === 1 ? '' : 's'}`;
  const lines = [`${one.program}  ${state}  since ${one.since}  ${restarts}`];
  if (one.ledgerBrokenAt !== undefined)
    lines.push(`  ledger: line ${one.ledgerBrokenAt} was changed or torn`);
  for (const { at, code, signal, verdictKind, bundle } of one.deaths)
    lines.push(`  ${at}  ${signal ?? `exit ${code}`}  ${verdictKind ?? ''}  ${bundle ?? ''}`.trimEnd());
  return lines;
}
