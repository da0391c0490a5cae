/** Regenerates fixtures/hostile: `npm run fixtures:hostile`. Its README is kept. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostileInputs } from '../hostile/synth-bundle-hostile.ts';

const target = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'hostile');

mkdirSync(target, { recursive: true });
for (const entry of readdirSync(target, { withFileTypes: true }))
  if (entry.isDirectory()) rmSync(join(target, entry.name), { recursive: true });

let count = 0;
for (const input of hostileInputs()) {
  for (const [name, bytes] of input.files) {
    const path = join(target, input.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  for (const [name, to] of Object.entries(input.links ?? {})) symlinkSync(to, join(target, input.path, name));
  count++;
}
console.log(`${count} hostile inputs in ${target}`);
