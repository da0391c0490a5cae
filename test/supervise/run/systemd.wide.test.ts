/**
 * `agentdump run` as a service of a real systemd: what it accepts from us, and what its watchdog does when we fall silent.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readLedgers } from '../../../src/supervise/run/ledger.ts';
import {
  type ServiceManager,
  startServiceManager,
  whyNoServiceManager,
} from '../../support/system/service-manager.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-systemd-'));
after(() => rmSync(dir, { recursive: true, maxRetries: 3 }));

const hangsOnce = join(dir, 'hangs-once.cjs');
/** Hangs in its first life, and records at its end how often it was asked to end. */
const program = `const fs = require('node:fs');
  const [, , mark] = process.argv;
  const isFirst = !fs.existsSync(mark);
  fs.writeFileSync(mark, '');
  let asked = 0;
  process.on('SIGTERM', () => { asked++; setTimeout(() => { fs.writeFileSync(mark, 'asked ' + asked); process.exit(0); }, 300); });
  setInterval(() => {}, 1000);
  if (isFirst) setTimeout(() => { for (;;); }, 3000);`;

const service = (name: string, options: string) => `[Unit]
DefaultDependencies=no
[Service]
Type=notify
NotifyAccess=all
WatchdogSec=6
Restart=on-failure
RestartSec=100ms
TimeoutStopSec=20
Environment=HOME=${dir} PATH=${process.env['PATH'] ?? ''}
WorkingDirectory=${dir}
ExecStart=${process.execPath} ${agentdump} run --dir ${join(dir, name)} --hang=1000 --stop-grace=500 --no-core ${options} -- ${process.execPath} ${hangsOnce} ${join(dir, `${name}.mark`)}
ExecStopPost=/bin/sh -c 'echo $SERVICE_RESULT >> ${join(dir, `${name}.results`)}'
`;
const units = {
  'test.target': '[Unit]\nDefaultDependencies=no\n',
  'left-ill.service': service('left-ill', ''),
  'cured.service': service('cured', '--restart=on-failure --restart-delay=1'),
};
const resultsOf = (name: string): string[] =>
  readFileSync(join(dir, `${name}.results`), 'utf8')
    .trim()
    .split('\n');

describe('a real systemd', { skip: whyNoServiceManager() }, () => {
  let systemd: ServiceManager;
  before(async () => {
    writeFileSync(hangsOnce, program);
    systemd = await startServiceManager(dir, units, 'test.target');
  });
  after(() => systemd?.stop());

  test('READY and STATUS; a hang that we leave alone is its watchdog’s, who starts the unit again', async () => {
    systemd.systemctl('start', 'left-ill.service');
    // The start command returned, so systemd has received READY.
    await systemd.until('left-ill.service', 'StatusText', /^process \d+ is healthy$/);
    await systemd.until('left-ill.service', 'NRestarts', /^1$/);
    await systemd.until('left-ill.service', 'ActiveState', /^active$/);
    assert.deepEqual(resultsOf('left-ill'), ['watchdog']);
    const bundles = readdirSync(join(dir, 'left-ill')).filter((name) => name.endsWith('.agentdump'));
    assert.ok(
      bundles.some((name) => name.includes('event-loop-hang')),
      bundles.join(),
    );
  });

  test('a hang that we cure: the unit stays up', async () => {
    systemd.systemctl('start', 'cured.service');
    await systemd.until('cured.service', 'StatusText', /^process \d+ is healthy, restarted 1 times$/);
    assert.equal(systemd.systemctl('show', 'cured.service', '--value', '-p', 'NRestarts'), '0');
    assert.equal(systemd.systemctl('show', 'cured.service', '--value', '-p', 'ActiveState'), 'active');
    const events = readLedgers(join(dir, 'cured'))[0]?.lines.map(({ event }) => event) ?? [];
    assert.ok(events.includes('recovered'), events.join());
  });

  test('stopped by it, the whole group: asked once, ended well', async () => {
    systemd.systemctl('stop', 'cured.service');
    await systemd.until('cured.service', 'ActiveState', /^inactive$/);
    assert.deepEqual(resultsOf('cured'), ['success']);
    assert.equal(readFileSync(join(dir, 'cured.mark'), 'utf8'), 'asked 1');
  });
});
