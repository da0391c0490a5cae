/**
 * Deaths with the truth about each, written down before it is died: the kind, what the first screen must name, and the
 * state of the work. From what the programs do, not from what the tool prints. The helpers that the programs use are in
 * `victim.ts`.
 */
import { agentTruths } from './truths-agents.ts';
import { examinedTruths } from './truths-examined.ts';
import { mixedTruths } from './truths-mixed.ts';
import { nodeCodeTruths } from './truths-node-code.ts';
import { programTruths } from './truths-programs.ts';
import { unownedTruths } from './truths-unowned.ts';

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** The message's text. */
  text?: string;
  finish?: string;
  tools?: { id: string; name: string; arguments: string }[];
  /** Body of an error. */
  error?: string;
  /** The connection closes in the reply, or nothing more comes after this many pieces of a stream. */
  fault?: 'cut' | 'stall' | 'silent';
}

export interface Truth {
  name: string;
  /** A body of a module; see `victim.ts` for the names in reach. */
  program: string;
  replies?: Reply[];
  /** Sent when the program prints `ready`. */
  signal?: NodeJS.Signals;
  /** Under `agentdump run`: the process itself can write nothing. */
  supervised?: true;
  env?: Record<string, string>;
  /** What the account does not tell yet, and why: the test fails as soon as it does. */
  miss?: string;
  /** In the default run too. */
  quick?: true;
  kind: string;
  /** Each on the first screen. */
  cause: RegExp[];
  /** What was open, by its beginning; none where nothing was. */
  open?: RegExp[];
  requested?: RegExp[];
  /** Must not stand on the first screen. */
  never?: RegExp[];
}

export const truths: readonly Truth[] = [
  ...programTruths,
  ...agentTruths,
  ...mixedTruths,
  ...examinedTruths,
  ...nodeCodeTruths,
  ...unownedTruths,
];
