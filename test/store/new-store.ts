/**
 * A store in a folder without the three seconds that PostgreSQL needs to create a database: a copy of one in .tests/ that was
 * created before, by this run or an earlier one.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore, type Store } from '../../src/store/open-store.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns it opened. `place`: a folder that does not exist. */
export async function newStore(place: string): Promise<Store> {
  const template = join(root, '.tests', `empty-store-${key()}`);
  if (!existsSync(template)) await makeTemplate(template);
  mkdirSync(place, { mode: 0o700, recursive: true });
  cpSync(template, place, { recursive: true });
  return openStore(place);
}

/** A hash of everything that determines an empty database. */
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

/** Under another name until it is complete, because test files run in parallel. */
async function makeTemplate(template: string): Promise<void> {
  const draft = `${template}.${process.pid}`;
  mkdirSync(dirname(draft), { recursive: true });
  await (await openStore(draft)).close();
  if (existsSync(template)) rmSync(draft, { recursive: true });
  else renameSync(draft, template);
}
