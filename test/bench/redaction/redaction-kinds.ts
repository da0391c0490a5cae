/**
 * The redactor's speed on six kinds of real text, compared with secretlint's and with a single regular expression in the same
 * run, on each Node of test/nodes. `npm run bench:redaction-kinds` after a build; installing all of test/ gives the most
 * varied texts.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeRealTexts } from '../../support/synth/real-texts.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const built = join(root, 'dist', 'redaction', 'index.js');

if (!existsSync(built)) throw new Error('run `npm run build` first');
const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
try {
  writeFileSync(join(folder, 'texts.json'), JSON.stringify(makeRealTexts()));
  const nodes = ['20', '22', '24', '26'].map((version) =>
    join(root, 'test', 'nodes', 'node_modules', `node-${version}`, 'bin', 'node'),
  );
  const script = join(root, 'test', 'bench', 'redaction', 'redaction-kinds.mjs');
  for (const node of nodes.some(existsSync) ? nodes.filter(existsSync) : [process.execPath])
    spawnSync(node, [script, built, folder], { stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true });
}
