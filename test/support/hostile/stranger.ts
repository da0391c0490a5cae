/** Shared by tests that run the command line on untrusted files: where they are, and what no output may contain. */
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');
export const bin = join(root, 'bin', 'agentdump.js');
export const hostile = join(root, 'fixtures', 'hostile');

/** Characters that move a terminal's cursor or reverse the direction of text. */
export const moving = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
/** A line that a CI runner interprets as a command. */
export const command = /^\s*(?:::|##\[)/m;
