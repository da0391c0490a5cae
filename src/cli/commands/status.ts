/** `agentdump status`: what is running here, how often it was restarted, and the last deaths. */

import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { formatBytes, formatCount } from '../../model/quantities.ts';
import { receiversOf } from '../../store/receivers/receivers.ts';
import { type Outbox, readOutbox } from '../../store/sending/outbox.ts';
import { readStatus, type Status, type Supervised } from '../../supervise/run/status.ts';
import { dirOption } from '../options/bundle-options.ts';
import { printForeign, printJson } from '../output/output.ts';

const command: CommandModule = {
  command: 'status',
  describe: 'Show supervised programs, their restarts and last deaths, and what was not sent to the store',
  builder: {
    dir: dirOption,
    json: { type: 'boolean', describe: 'Print JSON', default: false },
  },
  handler: (words) => {
    const dir = resolve(String(words['dir']));
    const status = readStatus(dir);
    const place = process.env['AGENTDUMP_STORE'];
    const outbox = place ? readOutbox(dir, place) : undefined;
    const receivers = receiversOf(process.env).map(({ name, place }) => ({
      name,
      outbox: readOutbox(dir, place),
    }));
    if (words['json'])
      printJson({
        ...status,
        ...(outbox && { unsent: unsentOf(outbox) }),
        ...(receivers.length > 0 && {
          untold: receivers.map(({ name, outbox }) => ({ name, ...unsentOf(outbox) })),
        }),
      });
    else
      printForeign(
        [
          renderStatus(status),
          ...(outbox ? renderUnsent('the store', outbox) : []),
          ...receivers.flatMap(({ name, outbox }) => renderUnsent(name, outbox)),
        ].join('\n'),
      );
  },
};
export default command;

/** What is missing in a store, or was not reported to a receiver. */
function unsentOf({ waiting, refused, failure }: Outbox): object {
  return {
    waiting: waiting.map(({ name, bytes }) => ({ name, bytes })),
    refused,
    ...(failure && { failure }),
  };
}

function renderUnsent(to: string, { waiting, refused, failure }: Outbox): string[] {
  const bytes = waiting.reduce((sum, bundle) => sum + bundle.bytes, 0);
  return [
    '',
    waiting.length
      ? `Not sent to ${to}: ${formatCount(waiting.length, 'bundle')}, ${formatBytes(bytes)}.`
      : `Every sealed bundle was sent to ${to}.`,
    ...(failure ? [`  The last try failed at ${failure.at}: ${failure.because}`] : []),
    ...refused.map(({ name, because }) => `  refused: ${name}: ${because}`),
    ...(waiting.length ? ['  `agentdump send --all` tries again.'] : []),
  ];
}

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
