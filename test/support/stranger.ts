/** What tests share that hand the command line what a stranger made: where it is, and what no answer may show. */
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
export const bin = join(root, 'bin', 'agentdump.js');
export const hostile = join(root, 'fixtures', 'hostile');

/** Characters that move a terminal's cursor or turn its text round. */
export const moving = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
/** A line that a CI runner takes for a command. */
export const command = /^\s*(?:::|##\[)/m;
