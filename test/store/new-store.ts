/**
 * A store in a folder without the three seconds that PostgreSQL takes to make a database: a copy of one that was made
 * before, by this run or an earlier one, in .tests/.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore, type Store } from '../../src/store/open-store.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Opened. `place`: a folder that is not there. */
export async function newStore(place: string): Promise<Store> {
  const template = join(root, '.tests', `empty-store-${key()}`);
  if (!existsSync(template)) await makeTemplate(template);
  mkdirSync(place, { mode: 0o700, recursive: true });
  cpSync(template, place, { recursive: true });
  return openStore(place);
}

/** Of everything that says what an empty database looks like. */
function key(): string {
  const tables = join(root, 'src', 'store', 'index');
  const hash = createHash('sha256');
  for (const path of [
    join(root, 'node_modules', '@electric-sql', 'pglite', 'package.json'),
    ...readdirSync(tables).map((name) => join(tables, name)),
  ])
    hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 12);
}

/** Under another name until it is whole, since test files run beside each other. */
async function makeTemplate(template: string): Promise<void> {
  const draft = `${template}.${process.pid}`;
  mkdirSync(dirname(draft), { recursive: true });
  await (await openStore(draft)).close();
  if (existsSync(template)) rmSync(draft, { recursive: true });
  else renameSync(draft, template);
}
