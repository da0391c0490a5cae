/** Where cores are written, for each kind of core_pattern, and what is missing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CoreSettings,
  describeCoreDestination,
} from '../../../src/supervise/doctor/core-destination.ts';

const systemd = '|/usr/lib/systemd/systemd-coredump %P %u %g %s %t 9223372036854775808 %h %d';
const apport = '|/usr/share/apport/apport -p%p -s%s -c%c -d%d -P%P -u%u -g%g -F%F -- %E';
const files: Record<string, string> = {};

function tell(pattern: string, settings: Partial<CoreSettings> = {}): string {
  const { value, advice } = describeCoreDestination({
    pattern,
    usesPid: false,
    softLimit: 'unlimited',
    hardLimit: 'unlimited',
    isThere: () => true,
    settings: (path) => files[path],
    ...settings,
  });
  return advice === undefined ? value : `${value} | ${advice}`;
}

const conf = (text: string) => ({
  settings: (path: string) => (path === '/etc/systemd/coredump.conf' ? text : undefined),
});

test('a file', () => {
  assert.equal(tell('core', { usesPid: true }), 'core, in the working directory, with .<pid>');
  assert.equal(tell('/var/cores/core.%e.%p'), '/var/cores/core.%e.%p');
  const nowhere = { isThere: () => false };
  assert.match(
    tell('/var/cores/core.%p', nowhere),
    /the folder is not there, so the kernel keeps none: `mkdir -p '\/var\/cores'`/,
  );
  assert.equal(tell('/var/%e/core.%p', nowhere), '/var/%e/core.%p');
  assert.match(tell('core'), /each core replaces the one before/);
  assert.match(tell('core', nowhere), /each core replaces the one before/);
  assert.match(tell('/my cores/core.%p', nowhere), /`mkdir -p '\/my cores'`/);
  assert.match(tell('core.%p', { softLimit: '0' }), /soft limit is 0: `ulimit -c unlimited`/);
  assert.match(tell('core.%p', { softLimit: '0', hardLimit: '0' }), /hard limit below allows none/);
  assert.match(tell(''), /^unknown \| /);
});

test('systemd-coredump, by its settings', () => {
  assert.equal(tell(systemd), 'systemd-coredump: /var/lib/systemd/coredump/core.*.zst');
  assert.match(tell(systemd, { softLimit: '0' }), /keeps to it: `ulimit -c unlimited`/);
  assert.match(tell(systemd, conf('[Coredump]\n#Storage=external\nStorage=none\n')), /keeps none/);
  assert.match(
    tell(systemd, conf('Storage=none\nStorage = external\nProcessSizeMax=2G')),
    /\(ProcessSizeMax=2G\)$/,
  );
  assert.match(tell(systemd, conf('Storage=journal')), /into the journal \| `coredumpctl dump/);
  assert.match(tell(systemd, conf('ProcessSizeMax=0')), /ProcessSizeMax=0 keeps none/);
});

test('apport, abrt, nobody, and a program that nobody knows', () => {
  assert.match(tell(apport), /^apport: \/var\/crash\/\*\.crash \| for programs of packages only/);
  const off = { settings: (path: string) => (path === '/etc/default/apport' ? 'enabled=0\n' : undefined) };
  assert.match(tell(apport, off), /switched off \| set enabled=1/);
  assert.match(tell('|/usr/libexec/abrt-hook-ccpp %s %c'), /^abrt: /);
  assert.match(tell('|/bin/false', { isThere: () => false }), /thrown away/);
  assert.match(tell('|/opt/keep %p'), /^the program \/opt\/keep \| .*not known here/);
});

test('a collector of the host, seen from inside a container', () => {
  assert.match(
    tell(systemd, { isThere: () => false }),
    /not here: \/usr\/lib\/systemd\/systemd-coredump \| .*look on the host/,
  );
});
